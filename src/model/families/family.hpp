#pragma once
// What a family makes of a checkpoint, and what the families of JSON configs read from.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "load/checkpoint.hpp"
#include "model/families/config_reader.hpp"
#include "model/names.hpp"
#include "model/spec.hpp"

namespace ztvm::model {

struct Family {
  ModelSpec spec;
  WeightNames names;
  // Dotted parts of the names of tensors that published checkpoints have and text does not need: "vision_tower".
  std::span<const std::string_view> unused = {};
};

// The numbers that every dense decoder's config has: dimensions, attention heads, feed-forward width, RoPE.
// Leaves spec.layers empty. Errors stay in the reader.
//
// A field that changes what the model computes is applied, or must have the one value that this engine computes with.
// It may be absent only where transformers' own default for the family is that value (`defaults`). A sliding window is
// applied by limiting the context to it: within the window, attention is full.
struct DecoderDefaults {
  double rms_eps = 1e-6;
  std::optional<double> rope_theta;  // none: required, because every published config has another one
  double rotated_share = 1.0;        // of a head
  bool has_window = false;           // "sliding_window" counts without "use_sliding_window"
  bool has_llama3_rope = false;      // "rope_scaling" may be of type "llama3"
  bool has_linear_layers = false;    // "layer_types" may name them; the family reads the list
};
struct DecoderConfig {
  ModelSpec spec;
  AttentionSpec attention;
  std::uint32_t n_layers = 0;
  std::uint32_t ffn_dim = 0;  // 0 if there is none (all layers are mixtures of experts)
};
DecoderConfig read_decoder_config(ConfigReader& config, const DecoderDefaults& defaults);

}  // namespace ztvm::model
