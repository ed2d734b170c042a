#include "model/families/registry.hpp"

#include <fmt/format.h>

#include <array>

#include "base/in_quotes.hpp"
#include "model/families/llama_gguf.hpp"
#include "model/families/phi3.hpp"
#include "model/families/qwen3.hpp"
#include "model/families/qwen3_5.hpp"

namespace ztvm::model {
namespace {

struct GgufFamily {
  std::string_view architecture;
  Result<Family> (*read)(const load::GgufMetadata&, const load::Checkpoint&);
};
constexpr std::array k_gguf_families = {GgufFamily{"llama", llama_from_gguf}};

struct ConfigFamily {
  std::string_view model_type;
  Result<Family> (*read)(ConfigReader&, const load::Checkpoint&);
};
constexpr std::array k_config_families = {
    ConfigFamily{"llama", llama_from_config},
    ConfigFamily{"phi3", phi3_from_config},
    ConfigFamily{"qwen3", qwen3_from_config},
    ConfigFamily{"qwen3_5", qwen3_5_from_config},
    ConfigFamily{"qwen3_5_text", qwen3_5_from_config},
    ConfigFamily{"qwen3_5_moe", qwen3_5_from_config},
    ConfigFamily{"qwen3_5_moe_text", qwen3_5_from_config},
};

// "\"llama\", \"phi3\"".
template <typename Families, typename Name>
std::string list_of(const Families& families, Name name) {
  std::string known;
  for (const auto& family : families)
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", family.*name);
  return known;
}

// A multimodal config keeps the language model's fields in text_config, MLC's in model_config; the rest stands outside.
std::vector<const Json*> field_objects(const Json& config) {
  std::vector<const Json*> objects;
  for (const char* nested : {"text_config", "model_config"}) {
    const auto it = config.find(nested);
    if (it != config.end() && it->is_object()) objects.push_back(&*it);
  }
  objects.push_back(&config);
  return objects;
}

}  // namespace

Result<Family> family_from_gguf(const load::GgufMetadata& metadata, const load::Checkpoint& file) {
  auto type = metadata.find_string("general.type");
  if (!type) return forward(type);
  if (type->value_or("model") != "model") {
    return fail(ErrorCode::unsupported, fmt::format("{} has {} in key \"general.type\", expected \"model\".",
                                                    file.name, in_quotes(**type)));
  }
  auto architecture = metadata.get_string("general.architecture");
  if (!architecture) return forward(architecture);
  for (const GgufFamily& family : k_gguf_families) {
    if (family.architecture == *architecture) return family.read(metadata, file);
  }
  return fail(ErrorCode::unsupported,
              fmt::format("{} has architecture {}, expected {}.", file.name, in_quotes(*architecture),
                          list_of(k_gguf_families, &GgufFamily::architecture)));
}

Result<Family> family_from_config(const Json& config, const std::string& name,
                                  const load::Checkpoint& checkpoint) {
  auto model_type = get_string(config, "model_type", name);
  if (!model_type) return forward(model_type);
  ConfigReader reader(field_objects(config), name);
  for (const ConfigFamily& family : k_config_families) {
    if (family.model_type == *model_type) return family.read(reader, checkpoint);
  }
  return fail(ErrorCode::unsupported,
              fmt::format("{} has model_type {}, expected {}.", name, in_quotes(*model_type),
                          list_of(k_config_families, &ConfigFamily::model_type)));
}

}  // namespace ztvm::model
