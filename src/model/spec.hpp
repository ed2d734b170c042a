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
  std::uint32_t n_rotated = 0;  // elements of a head that RoPE rotates
};

struct MlpSpec {
  std::uint32_t ffn_dim = 0;
};

using MixerSpec = std::variant<AttentionSpec>;
using FfnSpec = std::variant<MlpSpec>;

struct LayerSpec {
  MixerSpec mixer;
  FfnSpec ffn;
};

struct ModelSpec {
  std::string architecture;       // "llama"
  std::uint32_t dim = 0;          // width of the residual stream
  std::uint32_t vocab = 0;        // rows of the embedding and of the head
  std::uint32_t n_valid_ids = 0;  // rows that the tokenizer knows; the rest is never chosen
  std::uint32_t max_context = 0;  // positions the model was trained for
  float rms_eps = 0.0f;
  double rope_theta = 0.0;
  bool tied_head = false;  // the head is the embedding
  std::vector<LayerSpec> layers;
};

}  // namespace ztvm::model
