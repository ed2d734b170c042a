// What the registry says of models that no family here reads: their names come from a file that anyone could have written.
#include "model/families/registry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

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

std::string error_of_gguf(
    const std::string& architecture, const std::function<void(test::GgufBuilder&)>& change = [](auto&) {}) {
  test::GgufBuilder builder;
  change(builder);
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

TEST(Registry, AnAdapterOrAProjectorIsNoModel) {
  const auto error_of_type = [](const char* type) {
    return error_of_gguf("llama", [&](test::GgufBuilder& builder) { builder.text("general.type", type); });
  };
  EXPECT_EQ(error_of_type("adapter"), "x.gguf has \"adapter\" in key \"general.type\", expected \"model\".");
  EXPECT_EQ(error_of_type("model").find("general.type"), std::string::npos);
}

TEST(Registry, ShowsNamesInPart) {
  EXPECT_LT(error_of_config(std::string(100'000, 'z')).size(), 400u);
  EXPECT_LT(error_of_gguf(std::string(100'000, 'z')).size(), 400u);
}

// The factors of Llama 3.1 8B as transformers computes them (_compute_llama3_parameters).
TEST(Registry, ScalesRopeAsLlama3Does) {
  Json config = Json::parse(R"({"model_type": "llama", "hidden_size": 4096, "vocab_size": 128256,
    "num_hidden_layers": 1, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0,
    "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
    "rope_type": "llama3"}})");
  const auto family = family_from_config(config, "config.json", {});
  ASSERT_TRUE(family) << family.error().text;
  const std::vector<float>& factors = family->spec.rope_factors;
  ASSERT_EQ(factors.size(), 64u);
  for (std::size_t j = 0; j < factors.size(); ++j) {
    const double frequency = std::pow(500000.0, -2.0 * static_cast<double>(j) / 128);
    const double wave = 2 * 3.14159265358979323846 / frequency;
    double scaled = frequency;
    if (wave > 8192.0 / 1.0) {
      scaled = frequency / 8.0;
    } else if (wave >= 8192.0 / 4.0) {
      const double smooth = (8192.0 / wave - 1.0) / (4.0 - 1.0);
      scaled = (1 - smooth) * frequency / 8.0 + smooth * frequency;
    }
    EXPECT_NEAR(frequency / factors[j], scaled, 1e-6 * scaled) << j;
  }
  EXPECT_EQ(factors.front(), 1.0f);
  EXPECT_EQ(factors.back(), 8.0f);
  config["rope_scaling"].erase("factor");
  EXPECT_NE(family_from_config(config, "config.json", {}).error().text.find("rope_scaling.factor"),
            std::string::npos);
}

}  // namespace
}  // namespace ztvm::model
