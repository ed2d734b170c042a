#include "model/families/phi3.hpp"

#include <fmt/format.h>

#include "model/families/layer_tensors.hpp"

namespace ztvm::model {

Result<Family> phi3_from_config(ConfigReader& config, const load::Checkpoint& checkpoint) {
  DecoderConfig read =
      read_decoder_config(config, {.rms_eps = 1e-5, .rope_theta = 10000.0, .has_window = true});
  config.require(read.ffn_dim > 0, "has no field \"intermediate_size\".");
  if (auto status = config.status(); !status) return forward(status);
  Family family = {.spec = std::move(read.spec), .names = {}, .unused = k_unused_rope};
  ModelSpec& spec = family.spec;
  spec.architecture = "phi3";
  const bool mlc_names = checkpoint.find("transformer.embd.weight") != nullptr;
  for (std::uint32_t i = 0; i < read.n_layers; ++i) {
    spec.layers.push_back({.mixer = read.attention, .ffn = MlpSpec{read.ffn_dim}});
    const LayerTensors layer(checkpoint,
                             fmt::format("{}{}.", mlc_names ? "transformer.h." : "model.layers.", i), i);
    AttentionNames attention =
        mlc_names
            ? layer.attention("ln.weight", "mixer", "out_proj", read.attention, spec.dim)
            : layer.attention("input_layernorm.weight", "self_attn", "o_proj", read.attention, spec.dim);
    family.names.layers.push_back({.mixer = std::move(attention), .ffn = layer.mlp(read.ffn_dim, spec.dim)});
  }
  if (mlc_names) {
    name_ends(family.names, spec, checkpoint, "transformer.embd.weight", "transformer.norm.weight",
              "lm_head.weight");
  } else {
    name_ends(family.names, spec, checkpoint, "model.embed_tokens.weight", "model.norm.weight",
              "lm_head.weight");
  }
  return family;
}

}  // namespace ztvm::model
