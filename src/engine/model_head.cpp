// From a model's files to its numbers and its text.
#include <vector>

#include "engine/model_plan.hpp"

namespace ztvm::engine {
namespace {

// The configs of a folder, the one with the model's numbers first.
struct Configs {
  std::vector<Json> all;
  std::string name;  // of the first
};

Result<Configs> parse_configs(const load::ModelTexts& texts) {
  Configs configs;
  const auto take = [&](const std::optional<std::string>& text, std::string_view name) -> Result<void> {
    if (!text) return {};
    auto parsed = parse_json_unique(*text, name);
    if (!parsed) return forward(parsed);
    if (configs.all.empty()) configs.name = name;
    configs.all.push_back(std::move(*parsed));
    return {};
  };
  if (auto taken = take(texts.mlc_chat_config, "mlc-chat-config.json"); !taken) return forward(taken);
  if (auto taken = take(texts.config, "config.json"); !taken) return forward(taken);
  if (auto taken = take(texts.generation_config, "generation_config.json"); !taken) return forward(taken);
  check(!configs.name.empty(), "a folder's model has a config");
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
  auto family = model::family_from_config(configs->all.front(), configs->name, files.checkpoint);
  if (!family) return forward(family);
  const auto model_type = get_string(configs->all.front(), "model_type", configs->name);
  auto text = read_text_parts({.tokenizer_json = files.texts.tokenizer.value_or(""),
                               .tokenizer_config_json = files.texts.tokenizer_config.value_or(""),
                               .chat_template_jinja = files.texts.chat_template.value_or(""),
                               .configs = configs->all,
                               .model_type = model_type.value_or("")});
  if (!text) return forward(text);
  return ModelHead{std::move(files.checkpoint), std::move(*family), std::move(*text)};
}

}  // namespace ztvm::engine
