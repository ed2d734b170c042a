#pragma once
// What a family makes of a checkpoint, and what the families of JSON configs read from.
#include "load/checkpoint.hpp"
#include "model/families/config_reader.hpp"
#include "model/names.hpp"
#include "model/spec.hpp"

namespace ztvm::model {

struct Family {
  ModelSpec spec;
  WeightNames names;
};

// The numbers that every dense decoder's config has: dimensions, attention heads, feed-forward width, RoPE.
// Leaves spec.layers empty. Errors stay in the reader.
struct DecoderConfig {
  ModelSpec spec;
  AttentionSpec attention;
  std::uint32_t n_layers = 0;
  std::uint32_t ffn_dim = 0;  // 0 if there is none (all layers are mixtures of experts)
};
DecoderConfig read_decoder_config(ConfigReader& config);

}  // namespace ztvm::model
