#pragma once
// Names of one layer's tensors in the naming of transformers, which MLC and MLX follow but for what they fuse.
#include <cstdint>
#include <string>
#include <string_view>

#include "load/checkpoint.hpp"
#include "model/names.hpp"
#include "model/spec.hpp"

namespace ztvm::model {

// Of Family::unused: the angles of RoPE, which files of some years ago have.
inline constexpr std::string_view k_unused_rope[] = {"rotary_emb.inv_freq"};

class LayerTensors {
 public:
  // `prefix` is "model.layers.3." with its dot; the checkpoint outlives this.
  LayerTensors(const load::Checkpoint& checkpoint, std::string prefix, std::uint32_t index)
      : checkpoint_(checkpoint), prefix_(std::move(prefix)), index_(index) {}

  std::string name(std::string_view tensor) const { return prefix_ + std::string(tensor); }
  std::string label(std::string_view what) const;
  bool has(std::string_view tensor) const { return checkpoint_.find(name(tensor)) != nullptr; }

  // A matrix that is one tensor [rows, dim].
  MatrixSpec whole(std::string_view what, std::string_view tensor, std::uint32_t rows,
                   std::uint32_t dim) const;
  // q | k | v | gate of `group` ("self_attn"): from q_proj, k_proj and v_proj, or fused in c_attn or qkv_proj.
  // With an output gate the rows of q_proj are [q | gate] a head; they are put in order here.
  MatrixSpec qkv(std::string_view group, const AttentionSpec& attention, std::uint32_t dim) const;
  // gate | up of `group` ("mlp"): from gate_proj and up_proj, or fused in gate_up_proj.
  MatrixSpec gate_up(std::string_view group, std::uint32_t ffn_dim, std::uint32_t dim) const;
  // The feed-forward part of `group` with norm post_attention_layernorm.
  MlpNames mlp(std::uint32_t ffn_dim, std::uint32_t dim) const;
  // Attention with norm input_layernorm; `out` is o_proj or, in MLC's Phi-3, out_proj.
  AttentionNames attention(std::string_view norm, std::string_view group, std::string_view out,
                           const AttentionSpec& spec, std::uint32_t dim) const;

 private:
  const load::Checkpoint& checkpoint_;
  std::string prefix_;
  std::uint32_t index_ = 0;
};

// The embedding, and the head unless it is tied, as whole tensors. A head that is stored is used whatever the config
// says of ties: where it is a copy of the embedding the answer is the same, else transformers does not tie it either.
void name_ends(WeightNames& names, ModelSpec& spec, const load::Checkpoint& checkpoint, std::string embedding,
               std::string final_norm, std::string head);

}  // namespace ztvm::model
