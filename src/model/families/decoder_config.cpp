#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/in_quotes.hpp"
#include "model/families/family.hpp"

namespace ztvm::model {
namespace {

constexpr std::uint32_t k_max_context = 1u << 24;

// The smallest that is told. One that a config leaves open (MLC writes -1) is the smallest that all families have.
std::uint32_t read_max_context(ConfigReader& config) {
  constexpr std::string_view k_window = "context_window_size";
  constexpr std::string_view k_positions = "max_position_embeddings";
  std::uint32_t context = UINT32_MAX;
  bool is_open = false;
  for (const Json* value : config.find_all(k_window)) {
    if (*value == -1) {
      is_open = true;
    } else {
      context = std::min(context, config.checked(k_window, *value, 1, k_max_context));
    }
  }
  if (config.find({k_positions}) != nullptr) {
    return std::min(context, config.integer({k_positions}, 1, k_max_context));
  }
  if (context != UINT32_MAX) return context;
  return is_open ? 4096 : config.integer({k_window, k_positions}, 1, k_max_context);
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

// "linear" divides positions by a factor.
bool has_factor_one(const ConfigReader& config, std::string_view object) {
  const auto factors = config.find_all(fmt::format("{}.factor", object));
  return !factors.empty() && std::ranges::all_of(factors, [](const Json* factor) {
    return factor->is_number() && *factor == 1.0;
  });
}

bool has_sections_only(const Json& scaling) {
  if (!scaling.is_object() || scaling.empty()) return false;
  for (const auto& [key, value] : scaling.items()) {
    if (key != "mrope_section" && key != "mrope_interleaved") return false;
  }
  return true;
}

// Scaled variants of RoPE change every angle, so an unknown one is refused, not ignored.
// Sections of angles are for images and video: the positions of text are the same in each.
void require_plain_rope(ConfigReader& config, bool has_llama3) {
  for (const std::string_view object : {"rope_scaling", "rope_parameters"}) {
    const bool is_unscaled = has_factor_one(config, object);
    for (const std::string_view field : {"type", "rope_type"}) {
      const std::string key = fmt::format("{}.{}", object, field);
      for (const Json* value : config.find_all(key)) {
        const bool is_known = (is_unscaled && *value == "linear") || (has_llama3 && *value == "llama3");
        if (!is_known) config.require_value(key, "default");
      }
    }
  }
  const Json* scaling = config.find({"rope_scaling"});
  config.require(scaling == nullptr || scaling->contains("type") || scaling->contains("rope_type") ||
                     has_sections_only(*scaling),
                 "has a rope_scaling without a type, expected none.");
  const Json* parameters = config.find({"rope_parameters"});
  config.require(parameters == nullptr || parameters->is_object(),
                 "has a field \"rope_parameters\" that is no object.");
}

// Llama 3.1's scaling: frequencies whose wave fits often into the context of the training stay, long waves are slowed by
// `factor`, and between the two it is blended.
std::vector<float> read_llama3_factors(ConfigReader& config, double theta, std::uint32_t n_rotated) {
  const auto is_llama3 = [&](const char* key) {
    const Json* type = config.find({key});
    return type != nullptr && *type == "llama3";
  };
  const bool in_parameters = is_llama3("rope_parameters.rope_type") || is_llama3("rope_parameters.type");
  if (!in_parameters && !is_llama3("rope_scaling.rope_type") && !is_llama3("rope_scaling.type")) return {};
  const std::string object = in_parameters ? "rope_parameters." : "rope_scaling.";
  const auto number = [&](std::string_view key, double low, double high) {
    return config.number({object + std::string(key)}, low, high);
  };
  const double factor = number("factor", 1.0, 1e6);
  const double low = number("low_freq_factor", 1e-6, 1e6);
  const double high = number("high_freq_factor", 1e-6, 1e6);
  const double context = number("original_max_position_embeddings", 1.0, k_max_context);
  config.require(low < high, fmt::format("has the low_freq_factor {} and the high_freq_factor {}, expected a "
                                         "lower and a higher one.",
                                         low, high));
  std::vector<float> factors;
  for (std::uint32_t j = 0; j < n_rotated / 2; ++j) {
    const double wave = 2.0 * std::numbers::pi * std::pow(theta, 2.0 * j / n_rotated);
    const double share = std::clamp((context / wave - low) / (high - low), 0.0, 1.0);
    factors.push_back(static_cast<float>(1.0 / ((1.0 - share) / factor + share)));
  }
  return factors;
}

double read_rope_theta(ConfigReader& config, const DecoderDefaults& defaults) {
  constexpr double k_most = 1e12;
  const Json* first = config.find({"rope_parameters.rope_theta", "rope_theta", "position_embedding_base"});
  for (const std::string_view key : {"rope_parameters.rope_theta", "rope_theta", "position_embedding_base"}) {
    for (const Json* value : config.find_all(key)) {
      config.require(*value == *first,
                     fmt::format("has {} in field \"{}\", but {} as its rope_theta elsewhere.",
                                 shown_json(*value), key, shown_json(*first)));
    }
  }
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
  // MLC's; more than there are rows is no limit.
  spec.n_valid_ids = std::min(spec.vocab, config.integer_or({"active_vocab_size"}, spec.vocab, 1, 1u << 24));
  spec.max_context = std::min(read_max_context(config), read_window(config, defaults));
  spec.rms_eps = static_cast<float>(config.number_or({"rms_norm_eps"}, defaults.rms_eps, 0.0, 1.0));
  spec.rope_theta = read_rope_theta(config, defaults);
  spec.tied_head = config.boolean_or({"tie_word_embeddings"}, false);
  out.n_layers = config.integer({"num_hidden_layers"}, 1, 1024);
  const Json* types = config.find({"layer_types"});
  config.require(types == nullptr || !types->is_array() || types->size() == out.n_layers,
                 fmt::format("has a list \"layer_types\" of {} layers, expected {}.",
                             types == nullptr ? 0 : types->size(), out.n_layers));
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
  require_plain_rope(config, defaults.has_llama3_rope);
  if (defaults.has_llama3_rope) {
    spec.rope_factors = read_llama3_factors(config, spec.rope_theta, attention.n_rotated);
  }
  for (const Json* name : config.find_all("hidden_act")) {
    if (*name != "swish") config.require_value("hidden_act", "silu");  // two names of one function
  }
  config.require_value("attention_bias", false);
  config.require_value("mlp_bias", false);
  config.require_value("tensor_parallel_shards", 1);
  config.require_value("pipeline_parallel_stages", 1);
  return out;
}

}  // namespace ztvm::model
