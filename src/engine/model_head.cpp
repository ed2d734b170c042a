// From a model's files to its numbers and its text.
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

}  // namespace

Result<ModelHead> read_model_head(load::ModelFiles files) {
  if (files.gguf) {
    auto text = read_text_parts(files.gguf->metadata);
    if (!text) return forward(text);
    auto family = model::family_from_gguf(files.gguf->metadata, files.checkpoint);
    if (!family) return forward(family);
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
  return ModelHead{std::move(files.checkpoint), std::move(*family), std::move(*text)};
}

}  // namespace ztvm::engine
