#include "engine/true_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/json.hpp"

namespace ztvm::engine {
namespace {

constexpr std::array<std::string_view, 5> k_aliases = {"phi3", "qwen3", "qwen35", "qwen36", "smollm2"};

// microsoft/Phi-3-mini-4k-instruct, Qwen/Qwen3-4B, Qwen/Qwen3.5-4B, Qwen/Qwen3.6-35B-A3B,
// HuggingFaceTB/SmolLM2-135M-Instruct.
constexpr std::array<std::string_view, 5> k_configs = {
    R"({"model_type": "phi3", "hidden_size": 3072, "vocab_size": 32064, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 8192, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "max_position_embeddings": 4096, "tie_word_embeddings": false})",
    R"({"model_type": "qwen3", "hidden_size": 2560, "vocab_size": 151936, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 9728,
        "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "max_position_embeddings": 40960,
        "tie_word_embeddings": true})",
    R"({"model_type": "qwen3_5", "hidden_size": 2560, "vocab_size": 248320, "num_hidden_layers": 32,
        "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216,
        "rms_norm_eps": 1e-6, "rope_theta": 10000000.0, "partial_rotary_factor": 0.25,
        "max_position_embeddings": 262144, "tie_word_embeddings": true, "full_attention_interval": 4,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4})",
    R"({"model_type": "qwen3_5_moe", "hidden_size": 2048, "vocab_size": 248320, "num_hidden_layers": 40,
        "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "rms_norm_eps": 1e-6,
        "rope_theta": 10000000.0, "partial_rotary_factor": 0.25, "max_position_embeddings": 262144,
        "tie_word_embeddings": false, "full_attention_interval": 4, "linear_num_key_heads": 16,
        "linear_num_value_heads": 32, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4, "num_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512})",
    R"({"model_type": "llama", "hidden_size": 576, "vocab_size": 49152, "num_hidden_layers": 30,
        "num_attention_heads": 9, "num_key_value_heads": 3, "intermediate_size": 1536, "rms_norm_eps": 1e-5,
        "rope_theta": 100000.0, "max_position_embeddings": 8192, "tie_word_embeddings": true})",
};

}  // namespace

std::span<const std::string_view> true_shape_aliases() { return k_aliases; }

Result<model::Family> true_shape(std::string_view alias, std::uint32_t n_layers, std::uint32_t vocab) {
  const auto found = std::ranges::find(k_aliases, alias);
  if (found == k_aliases.end()) {
    return fail(ErrorCode::not_found, fmt::format("There is no shape of \"{}\", expected one of {}.", alias,
                                                  fmt::join(k_aliases, ", ")));
  }
  auto config = parse_json(k_configs[static_cast<std::size_t>(found - k_aliases.begin())], alias);
  check(config.has_value(), "the built-in shapes are JSON");
  if (n_layers != 0) (*config)["num_hidden_layers"] = n_layers;
  // Fewer layers than the interval between attention layers still end with one.
  if (n_layers != 0 && config->contains("full_attention_interval") &&
      n_layers < (*config)["full_attention_interval"].get<std::uint32_t>()) {
    (*config)["full_attention_interval"] = n_layers;
  }
  if (vocab != 0) (*config)["vocab_size"] = vocab;
  return model::family_from_config(*config, std::string(alias), {});
}

}  // namespace ztvm::engine
