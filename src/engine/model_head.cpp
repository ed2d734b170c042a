// From a model's files to its numbers and its text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model_plan.hpp"

namespace ztvm::engine {
namespace {

// The configs of a folder, the one with the model's numbers first.
Result<std::vector<NamedConfig>> parse_configs(const load::ModelTexts& texts) {
  std::vector<NamedConfig> configs;
  const auto take = [&](const std::optional<std::string>& text, std::string_view name) -> Result<void> {
    if (!text) return {};
    auto parsed = parse_config(*text, name);
    if (!parsed) return forward(parsed);
    configs.push_back({.name = std::string(name), .json = std::move(*parsed)});
    return {};
  };
  if (auto taken = take(texts.mlc_chat_config, "mlc-chat-config.json"); !taken) return forward(taken);
  if (auto taken = take(texts.config, "config.json"); !taken) return forward(taken);
  if (auto taken = take(texts.generation_config, "generation_config.json"); !taken) return forward(taken);
  check(!configs.empty(), "a folder's model has a config");
  return configs;
}

// Factors of Llama 3.1 and later, one for each frequency; the spec gets them.
Result<void> take_rope_factors(std::vector<float> factors, const load::Checkpoint& checkpoint,
                               model::ModelSpec& spec) {
  if (checkpoint.find("rope_freqs.weight") == nullptr) return {};
  const std::size_t n_expected = spec.n_rotated() / 2;
  const auto is_factor = [](float factor) { return factor > 0.0f && std::isfinite(factor); };
  if (factors.size() != n_expected || !std::ranges::all_of(factors, is_factor)) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("Tensor \"rope_freqs.weight\" in {} is no list of {} factors above 0 of type F32.",
                    checkpoint.name, n_expected));
  }
  spec.rope_factors = std::move(factors);
  return {};
}

// An id without a row of the embedding could be in any prompt.
Result<void> check_ids(const TextParts& text, std::string_view text_file, const model::Family& family,
                       std::string_view numbers_file) {
  if (text.tokenizer.vocab_size() <= family.spec.vocab) return {};
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has {} tokens, but the model of {} embeds only {}.", text_file,
                          text.tokenizer.vocab_size(), numbers_file, family.spec.vocab));
}

}  // namespace

Result<ModelHead> read_model_head(load::ModelFiles files) {
  if (files.gguf) {
    auto text = read_text_parts(files.gguf->metadata);
    if (!text) return forward(text);
    auto family = model::family_from_gguf(files.gguf->metadata, files.checkpoint);
    if (!family) return forward(family);
    auto taken = take_rope_factors(std::move(files.rope_factors), files.checkpoint, family->spec);
    if (!taken) return forward(taken);
    const std::string_view file = files.gguf->metadata.file();
    if (auto ids = check_ids(*text, file, *family, file); !ids) return forward(ids);
    return ModelHead{std::move(files.checkpoint), std::move(*family), std::move(*text)};
  }
  auto configs = parse_configs(files.texts);
  if (!configs) return forward(configs);
  const NamedConfig& first = configs->front();
  auto family = model::family_from_config(first.json, first.name, files.checkpoint);
  if (!family) return forward(family);
  const auto model_type = get_string(first.json, "model_type", first.name);
  auto text = read_text_parts({.tokenizer_json = files.texts.tokenizer.value_or(""),
                               .tokenizer_config_json = files.texts.tokenizer_config,
                               .chat_template_jinja = files.texts.chat_template.value_or(""),
                               .configs = *configs,
                               .model_type = model_type.value_or(""),
                               .n_model_ids = family->spec.vocab});
  if (!text) return forward(text);
  if (auto ids = check_ids(*text, "tokenizer.json", *family, first.name); !ids) return forward(ids);
  return ModelHead{std::move(files.checkpoint), std::move(*family), std::move(*text)};
}

}  // namespace ztvm::engine
