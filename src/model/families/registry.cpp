#include "model/families/registry.hpp"

#include <fmt/format.h>

#include <array>

namespace ztvm::model {
namespace {

struct GgufFamily {
  std::string_view architecture;
  Result<Family> (*read)(const load::GgufFile&);
};
constexpr std::array k_gguf_families = {GgufFamily{"llama", llama_from_gguf}};

}  // namespace

Result<Family> family_from_gguf(const load::GgufFile& file) {
  auto architecture = file.metadata.get_string("general.architecture");
  if (!architecture) return forward(architecture);
  std::string known;
  for (const GgufFamily& family : k_gguf_families) {
    if (family.architecture == *architecture) return family.read(file);
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", family.architecture);
  }
  return fail(ErrorCode::unsupported, fmt::format("{} has architecture \"{}\", expected {}.",
                                                  file.checkpoint.name, *architecture, known));
}

}  // namespace ztvm::model
