// What the registry says of models that no family here reads: their names come from a file that anyone could have written.
#include "model/families/registry.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gguf_builder.hpp"
#include "load/gguf.hpp"

namespace ztvm::model {
namespace {

// Starts a title of the terminal, clears it, and goes on with a line of its own.
constexpr std::string_view k_evil = "x\x1b]0;t\x07\x1b[2J\nzerotvm: all fine";
constexpr std::string_view k_shown = "\"x\\x1b]0;t\\x07\\x1b[2J\\x0azerotvm: all fine\"";

std::string error_of_config(std::string_view model_type) {
  Json config;
  config["model_type"] = model_type;
  const auto family = family_from_config(config, "config.json", {});
  return family ? std::string("none") : family.error().text;
}

std::string error_of_gguf(const std::string& architecture) {
  test::GgufBuilder builder;
  builder.text("general.architecture", architecture);
  const std::string bytes = builder.file();
  const auto parsed = load::parse_gguf(as_bytes(bytes), "x.gguf", bytes.size());
  if (!parsed) return parsed.error().text;
  const auto& gguf = std::get<load::GgufFile>(*parsed);
  const auto family = family_from_gguf(gguf.metadata, gguf.checkpoint);
  return family ? std::string("none") : family.error().text;
}

TEST(Registry, ShowsUnknownNamesAsTerminalsCan) {
  EXPECT_NE(error_of_config(k_evil).find(std::string("config.json has model_type ") + std::string(k_shown)),
            std::string::npos)
      << error_of_config(k_evil);
  EXPECT_NE(error_of_gguf(std::string(k_evil)).find("has architecture " + std::string(k_shown)),
            std::string::npos)
      << error_of_gguf(std::string(k_evil));
}

TEST(Registry, ShowsNamesInPart) {
  EXPECT_LT(error_of_config(std::string(100'000, 'z')).size(), 400u);
  EXPECT_LT(error_of_gguf(std::string(100'000, 'z')).size(), 400u);
}

}  // namespace
}  // namespace ztvm::model
