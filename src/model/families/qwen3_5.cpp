#include "model/families/qwen3_5.hpp"

#include <fmt/format.h>

#include <array>

#include "base/in_quotes.hpp"
#include "model/families/layer_tensors.hpp"

namespace ztvm::model {
namespace {

// The vision tower, and the layer that guesses a token more.
constexpr std::string_view k_unused_parts[] = {"vision_tower", "visual", "mtp", "rotary_emb.inv_freq"};

DeltaNetSpec read_delta_net(ConfigReader& config) {
  DeltaNetSpec spec;
  spec.n_key_heads = config.integer({"linear_num_key_heads"}, 1, 1024);
  spec.n_value_heads = config.integer({"linear_num_value_heads"}, 1, 1024);
  spec.key_dim = config.integer({"linear_key_head_dim"}, 1, 256);
  spec.value_dim = config.integer({"linear_value_head_dim"}, 1, 256);
  spec.conv_width = config.integer({"linear_conv_kernel_dim"}, 2, 8);
  for (const std::uint32_t dim : {spec.key_dim, spec.value_dim}) {
    config.require(
        dim % 4 == 0,
        fmt::format("has heads of {} elements in linear attention, expected a multiple of 4.", dim));
  }
  config.require(spec.n_value_heads % spec.n_key_heads == 0,
                 fmt::format("has {} value heads and {} key heads of linear attention, expected a multiple.",
                             spec.n_value_heads, spec.n_key_heads));
  return spec;
}

MoeSpec read_moe(ConfigReader& config) {
  MoeSpec spec;
  spec.n_experts = config.integer({"num_experts"}, 1, 1024);
  spec.n_active = config.integer({"num_experts_per_tok"}, 1, 16);
  spec.expert_dim = config.integer({"moe_intermediate_size"}, 32, 65536);
  spec.shared_dim = config.integer_or({"shared_expert_intermediate_size"}, 0, 0, 65536);
  config.require(spec.n_active <= spec.n_experts,
                 fmt::format("chooses {} of {} experts, expected no more than there are.", spec.n_active,
                             spec.n_experts));
  return spec;
}

// Which layers are attention: the list of the config, or every so many.
std::vector<bool> read_attention_layers(ConfigReader& config, std::uint32_t n_layers) {
  std::vector<bool> is_attention(n_layers);
  if (const Json* types = config.find({"layer_types"})) {
    config.require(types->is_array() && types->size() == n_layers,
                   fmt::format("has a field \"layer_types\" that is no list of {} layers.", n_layers));
    for (std::uint32_t i = 0; i < n_layers && types->is_array() && i < types->size(); ++i) {
      const Json& type = (*types)[i];
      is_attention[i] = type == "full_attention";
      config.require(is_attention[i] || type == "linear_attention",
                     fmt::format("has layer {} of type {}, but this engine knows \"full_attention\" and "
                                 "\"linear_attention\".",
                                 i, shown_json(type)));
    }
    return is_attention;
  }
  const std::uint32_t interval = config.integer_or({"full_attention_interval"}, 4, 1, 1024);
  for (std::uint32_t i = 0; i < n_layers; ++i) is_attention[i] = (i + 1) % interval == 0;
  return is_attention;
}

DeltaNetNames delta_net_names(const LayerTensors& layer, const DeltaNetSpec& spec, std::uint32_t dim) {
  const auto name = [&](std::string_view part) { return layer.name(fmt::format("linear_attn.{}", part)); };
  const bool mlc_conv = layer.has("linear_attn.conv1d_weight");
  return {
      .norm = layer.name("input_layernorm.weight"),
      .in = {.label = layer.label("linear attention input"),
             .dim = dim,
             .sources = {{.tensor = name("in_proj_qkv.weight"), .rows = spec.conv_channels()},
                         {.tensor = name("in_proj_z.weight"), .rows = spec.value_width()},
                         {.tensor = name("in_proj_b.weight"), .rows = spec.n_value_heads},
                         {.tensor = name("in_proj_a.weight"), .rows = spec.n_value_heads}}},
      .conv = name(mlc_conv ? "conv1d_weight" : "conv1d.weight"),
      .a_log = name("A_log"),
      .dt_bias = name("dt_bias"),
      .out_norm = name("norm.weight"),
      .out = layer.whole("linear attention output", "linear_attn.out_proj.weight", dim, spec.value_width())};
}

MoeNames moe_names(const LayerTensors& layer, const MoeSpec& spec, std::uint32_t dim) {
  const auto name = [&](std::string_view part) { return layer.name(fmt::format("mlp.{}.weight", part)); };
  MoeNames names = {.norm = layer.name("post_attention_layernorm.weight"),
                    .router = layer.whole("router", "mlp.gate.weight", spec.n_experts, dim),
                    .gate_up = {.label = layer.label("experts gate and up"),
                                .dim = dim,
                                .sources = {},
                                .unit_rows = 2 * spec.expert_dim},
                    .down = {.label = layer.label("experts down"),
                             .dim = spec.expert_dim,
                             .sources = {{.tensor = name("switch_mlp.down_proj"),
                                          .rows = spec.n_experts * dim,
                                          .shape = {spec.n_experts, dim, spec.expert_dim}}},
                             .unit_rows = dim},
                    .shared_gate_up = {},
                    .shared_down = {}};
  for (std::uint32_t e = 0; e < spec.n_experts; ++e) {
    for (const std::string_view part : {"switch_mlp.gate_proj", "switch_mlp.up_proj"}) {
      names.gate_up.sources.push_back({.tensor = name(part),
                                       .rows = spec.expert_dim,
                                       .first_row = std::uint64_t{e} * spec.expert_dim,
                                       .shape = {spec.n_experts, spec.expert_dim, dim}});
    }
  }
  if (spec.shared_dim > 0) {
    names.router.sources.push_back({.tensor = name("shared_expert_gate"), .rows = 1});
    names.shared_gate_up = layer.gate_up("mlp.shared_expert", spec.shared_dim, dim);
    names.shared_down =
        layer.whole("shared down", "mlp.shared_expert.down_proj.weight", dim, spec.shared_dim);
  }
  return names;
}

// MLX puts the language model below "language_model."; MLC and text-only files have it at the top.
std::string_view find_prefix(const load::Checkpoint& checkpoint) {
  constexpr std::string_view k_nested = "language_model.";
  return checkpoint.find("language_model.model.embed_tokens.weight") != nullptr ? k_nested
                                                                                : std::string_view();
}

// transformers stores a convolution as [channels, 1, width]; MLX and MLC files have the 1 in their norms.
bool stores_bare_norms(const load::Checkpoint& checkpoint) {
  for (const load::TensorRecord& tensor : checkpoint.tensors) {
    if (tensor.name.ends_with("linear_attn.conv1d.weight")) {
      return tensor.shape.size() == 3 && tensor.shape[1] == 1 && tensor.shape[2] != 1;
    }
  }
  return false;
}

}  // namespace

Result<Family> qwen3_5_from_config(ConfigReader& config, const load::Checkpoint& checkpoint) {
  DecoderConfig read = read_decoder_config(config, {.rotated_share = 0.25, .has_linear_layers = true});
  read.attention.qk_norm = true;
  read.attention.output_gate = config.boolean_or({"attn_output_gate"}, true);
  const DeltaNetSpec delta_net = read_delta_net(config);
  const std::vector<bool> is_attention = read_attention_layers(config, read.n_layers);
  const bool is_moe = config.find({"num_experts"}) != nullptr;
  const MoeSpec moe = is_moe ? read_moe(config) : MoeSpec{};
  config.require_value("norm_topk_prob", true);
  config.require_value("decoder_sparse_step", 1);
  const Json* dense_layers = config.find({"mlp_only_layers"});
  config.require(dense_layers == nullptr || dense_layers->empty(),
                 "has dense layers among its experts (mlp_only_layers), expected none.");
  config.require(is_moe || read.ffn_dim > 0, "has neither \"intermediate_size\" nor \"num_experts\".");
  config.require(
      !stores_bare_norms(checkpoint),
      "belongs to weights in transformers' own form of Qwen3.5, expected MLC's or MLX's conversion.");
  if (auto status = config.status(); !status) return forward(status);

  Family family = {.spec = std::move(read.spec), .names = {}, .unused = k_unused_parts};
  ModelSpec& spec = family.spec;
  spec.architecture = is_moe ? "qwen3_5_moe" : "qwen3_5";
  const std::string prefix(find_prefix(checkpoint));
  for (std::uint32_t i = 0; i < read.n_layers; ++i) {
    const LayerTensors layer(checkpoint, fmt::format("{}model.layers.{}.", prefix, i), i);
    LayerSpec& layer_spec = spec.layers.emplace_back();
    LayerNames& names = family.names.layers.emplace_back();
    if (is_attention[i]) {
      layer_spec.mixer = read.attention;
      names.mixer =
          layer.attention("input_layernorm.weight", "self_attn", "o_proj", read.attention, spec.dim);
    } else {
      layer_spec.mixer = delta_net;
      names.mixer = delta_net_names(layer, delta_net, spec.dim);
    }
    if (is_moe) {
      layer_spec.ffn = moe;
      names.ffn = moe_names(layer, moe, spec.dim);
    } else {
      layer_spec.ffn = MlpSpec{read.ffn_dim};
      names.ffn = layer.mlp(read.ffn_dim, spec.dim);
    }
  }
  name_ends(family.names, spec, checkpoint, prefix + "model.embed_tokens.weight",
            prefix + "model.norm.weight", prefix + "lm_head.weight");
  return family;
}

}  // namespace ztvm::model
