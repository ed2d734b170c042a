#include "model/families/qwen3.hpp"

#include <fmt/format.h>

#include "model/families/layer_tensors.hpp"

namespace ztvm::model {
namespace {

Result<Family> read(ConfigReader& config, const load::Checkpoint& checkpoint, std::string architecture,
                    const DecoderDefaults& defaults, bool qk_norm) {
  DecoderConfig read = read_decoder_config(config, defaults);
  config.require(read.ffn_dim > 0, "has no field \"intermediate_size\".");
  if (auto status = config.status(); !status) return forward(status);
  read.attention.qk_norm = qk_norm;
  Family family = {.spec = std::move(read.spec), .names = {}, .unused = k_unused_rope};
  ModelSpec& spec = family.spec;
  spec.architecture = std::move(architecture);
  for (std::uint32_t i = 0; i < read.n_layers; ++i) {
    spec.layers.push_back({.mixer = read.attention, .ffn = MlpSpec{read.ffn_dim}});
    const LayerTensors layer(checkpoint, fmt::format("model.layers.{}.", i), i);
    family.names.layers.push_back(
        {.mixer = layer.attention("input_layernorm.weight", "self_attn", "o_proj", read.attention, spec.dim),
         .ffn = layer.mlp(read.ffn_dim, spec.dim)});
  }
  name_ends(family.names, spec, checkpoint, "model.embed_tokens.weight", "model.norm.weight",
            "lm_head.weight");
  return family;
}

}  // namespace

Result<Family> qwen3_from_config(ConfigReader& config, const load::Checkpoint& checkpoint) {
  return read(config, checkpoint, "qwen3", {}, /*qk_norm=*/true);
}

Result<Family> llama_from_config(ConfigReader& config, const load::Checkpoint& checkpoint) {
  return read(config, checkpoint, "llama",
              {.rope_theta = 10000.0, .has_window = true, .has_llama3_rope = true},
              /*qk_norm=*/false);
}

}  // namespace ztvm::model
