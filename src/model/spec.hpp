#pragma once
// What a model is, as plain checked numbers: a list of layers, each a mixer and a feed-forward part.
// Families fill it from a checkpoint's own metadata; nothing after them knows which family it was.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ztvm::model {

struct AttentionSpec {
  std::uint32_t n_heads = 0;
  std::uint32_t n_kv_heads = 0;  // divides n_heads
  std::uint32_t head_dim = 0;
  std::uint32_t n_rotated = 0;  // first elements of a head that RoPE rotates
  bool qk_norm = false;         // RMS norm of each head of q and k before RoPE
  bool output_gate = false;     // the result is multiplied by sigmoid(gate), a projection as wide as q
};

// Gated DeltaNet (Yang et al. 2024, arXiv 2412.06464): a causal convolution, then the gated delta rule.
struct DeltaNetSpec {
  std::uint32_t n_key_heads = 0;
  std::uint32_t n_value_heads = 0;  // a multiple of n_key_heads
  std::uint32_t key_dim = 0;        // elements of a key head
  std::uint32_t value_dim = 0;      // elements of a value head
  std::uint32_t conv_width = 0;

  std::uint32_t conv_channels() const { return 2 * n_key_heads * key_dim + n_value_heads * value_dim; }
  std::uint32_t value_width() const { return n_value_heads * value_dim; }
  // Columns of the fused input projection: q, k, v | z | b | a.
  std::uint32_t in_width() const { return conv_channels() + value_width() + 2 * n_value_heads; }
};

struct MlpSpec {
  std::uint32_t ffn_dim = 0;
};

// Sparse mixture of experts with renormalised weights, and a shared expert behind a sigmoid gate of its own.
struct MoeSpec {
  std::uint32_t n_experts = 0;
  std::uint32_t n_active = 0;    // experts a token
  std::uint32_t expert_dim = 0;  // width of an expert
  std::uint32_t shared_dim = 0;  // width of the shared expert; 0: there is none
};

using MixerSpec = std::variant<AttentionSpec, DeltaNetSpec>;
using FfnSpec = std::variant<MlpSpec, MoeSpec>;

struct LayerSpec {
  MixerSpec mixer;
  FfnSpec ffn;
};

struct ModelSpec {
  std::string architecture;       // "llama"
  std::uint32_t dim = 0;          // width of the residual stream
  std::uint32_t vocab = 0;        // rows of the embedding and of the head
  std::uint32_t n_valid_ids = 0;  // rows that may be chosen: tokenizer and config know them
  std::uint32_t max_context = 0;  // positions the model was trained for
  float rms_eps = 0.0f;
  double rope_theta = 0.0;
  std::vector<float> rope_factors;  // [n_rotated / 2], each divides its frequency; empty: all are 1
  bool tied_head = false;           // the head is the embedding
  std::vector<LayerSpec> layers;

  // Elements of a head that RoPE rotates, the same in all attention layers; 0 when there are none.
  std::uint32_t n_rotated() const {
    for (const LayerSpec& layer : layers) {
      if (const auto* attention = std::get_if<AttentionSpec>(&layer.mixer)) return attention->n_rotated;
    }
    return 0;
  }
};

}  // namespace ztvm::model
