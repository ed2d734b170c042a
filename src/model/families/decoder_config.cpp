#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/families/family.hpp"

namespace ztvm::model {
namespace {

constexpr std::uint32_t k_max_context = 1u << 24;

// A context that a config leaves open (MLC writes -1) is the smallest that all families have.
std::uint32_t read_max_context(ConfigReader& config) {
  const Json* window = config.find({"context_window_size"});
  const bool open = window != nullptr && window->is_number_integer() && *window == -1;
  if (config.find({"max_position_embeddings"}) != nullptr || open) {
    return config.integer_or({"max_position_embeddings"}, 4096, 1, k_max_context);
  }
  return config.integer({"context_window_size", "max_position_embeddings"}, 1, k_max_context);
}

// Whether a layer of the list attends within a window only.
bool read_window_layers(ConfigReader& config, bool has_linear_layers) {
  const Json* types = config.find({"layer_types"});
  if (types == nullptr) return false;
  config.require(types->is_array(), "has a field \"layer_types\" that is no list.");
  if (!types->is_array()) return false;
  bool has_window = false;
  for (const Json& type : *types) {
    has_window = has_window || type == "sliding_attention";
    config.require(
        has_linear_layers || type == "full_attention" || type == "sliding_attention",
        fmt::format("has a layer of type {}, but this engine knows only \"full_attention\" in such a "
                    "model.",
                    dump_json(type)));
  }
  return has_window;
}

// Tokens that attention reaches back; MLC writes -1 for all.
std::uint32_t read_window(ConfigReader& config, const DecoderDefaults& defaults) {
  std::uint32_t window = k_max_context;
  const auto take = [&](std::string_view key) {
    for (const Json* value : config.find_all(key)) {
      if (*value != -1) window = std::min(window, config.checked(key, *value, 1, UINT32_MAX));
    }
  };
  const bool has_window_layers = read_window_layers(config, defaults.has_linear_layers);
  const bool has_window = config.boolean_or({"use_sliding_window"}, defaults.has_window);
  take("sliding_window_size");
  if (has_window || has_window_layers) take("sliding_window");
  return window;
}

// Scaled variants of RoPE change every angle, so an unknown one is refused, not ignored.
void require_plain_rope(ConfigReader& config) {
  for (const std::string_view key :
       {"rope_scaling.type", "rope_scaling.rope_type", "rope_parameters.rope_type", "rope_parameters.type"}) {
    config.require_value(key, "default");
  }
  const Json* scaling = config.find({"rope_scaling"});
  config.require(scaling == nullptr || scaling->contains("type") || scaling->contains("rope_type"),
                 "has a rope_scaling without a type, expected none.");
  const Json* parameters = config.find({"rope_parameters"});
  config.require(parameters == nullptr || parameters->is_object(),
                 "has a field \"rope_parameters\" that is no object.");
}

double read_rope_theta(ConfigReader& config, const DecoderDefaults& defaults) {
  constexpr double k_most = 1e12;
  if (!defaults.rope_theta) {
    return config.number({"rope_parameters.rope_theta", "rope_theta", "position_embedding_base"}, 1.0,
                         k_most);
  }
  return config.number_or({"rope_parameters.rope_theta", "rope_theta", "position_embedding_base"},
                          *defaults.rope_theta, 1.0, k_most);
}

}  // namespace

DecoderConfig read_decoder_config(ConfigReader& config, const DecoderDefaults& defaults) {
  DecoderConfig out;
  ModelSpec& spec = out.spec;
  spec.dim = config.integer({"hidden_size"}, 32, 65536);
  spec.vocab = config.integer({"vocab_size"}, 1, 1u << 24);
  spec.n_valid_ids = spec.vocab;
  spec.max_context = std::min(read_max_context(config), read_window(config, defaults));
  spec.rms_eps = static_cast<float>(config.number_or({"rms_norm_eps"}, defaults.rms_eps, 0.0, 1.0));
  spec.rope_theta = read_rope_theta(config, defaults);
  spec.tied_head = config.boolean_or({"tie_word_embeddings"}, false);
  out.n_layers = config.integer({"num_hidden_layers"}, 1, 1024);
  out.ffn_dim = config.integer_or({"intermediate_size"}, 0, 32, 1u << 20);

  AttentionSpec& attention = out.attention;
  attention.n_heads = config.integer({"num_attention_heads"}, 1, 1024);
  attention.n_kv_heads = config.integer_or({"num_key_value_heads"}, attention.n_heads, 1, 1024);
  attention.head_dim = config.integer_or({"head_dim"}, spec.dim / attention.n_heads, 1, 65536);
  const double rotated_share = config.number_or(
      {"rope_parameters.partial_rotary_factor", "partial_rotary_factor"}, defaults.rotated_share, 0.0, 1.0);
  attention.n_rotated = static_cast<std::uint32_t>(std::floor(rotated_share * attention.head_dim));
  config.require(attention.n_heads % attention.n_kv_heads == 0,
                 fmt::format("has {} query heads and {} key-value heads, expected a multiple.",
                             attention.n_heads, attention.n_kv_heads));
  config.require(
      attention.head_dim >= 4 && attention.head_dim <= 256 && attention.head_dim % 4 == 0,
      fmt::format("has heads of {} elements, expected a multiple of 4 up to 256.", attention.head_dim));
  config.require(attention.n_rotated > 0 && attention.n_rotated % 2 == 0,
                 fmt::format("rotates {} elements of a head of {}, expected an even number above 0.",
                             attention.n_rotated, attention.head_dim));
  require_plain_rope(config);
  config.require_value("hidden_act", "silu");
  config.require_value("attention_bias", false);
  config.require_value("mlp_bias", false);
  config.require_value("tensor_parallel_shards", 1);
  return out;
}

}  // namespace ztvm::model
