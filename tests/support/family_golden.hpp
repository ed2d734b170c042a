#pragma once
// The tiny models of every family and what transformers computed with them (tools/make_tiny_models.py).
#include <string>
#include <vector>

#include "support/golden_model.hpp"

namespace ztvm::tests {

inline std::string family_root(const std::string& family) {
  return ZTVM_SOURCE_DIR "/tests/golden/" + family;
}
inline std::string family_model(const std::string& family) {
  return family == "llama" ? k_tiny_llama : family_root(family) + "/model";
}
inline nlohmann::json family_golden(const std::string& family) {
  return read_json(family_root(family) + "/golden/golden.json");
}

struct GoldenPrompt {
  std::string name;
  std::vector<std::uint32_t> ids;
  std::vector<float> logits;  // after ids
  std::vector<std::uint32_t> tokens;
  std::vector<double> margins;
  double f16_noise = 0.0;  // of an all-f16 twin in transformers, in deviations of the logits
};

inline std::vector<GoldenPrompt> golden_prompts(const std::string& family) {
  using Ids = std::vector<std::uint32_t>;
  std::vector<GoldenPrompt> prompts;
  for (const auto& p : family_golden(family)["prompts"]) {
    GoldenPrompt& prompt = prompts.emplace_back();
    prompt.name = p["name"].get<std::string>();
    prompt.ids = p["ids"].get<Ids>();
    prompt.logits =
        read_floats(family_root(family) + "/golden/" + p["last_logits"]["file"].get<std::string>());
    prompt.tokens = p["greedy"]["tokens"].get<Ids>();
    prompt.margins = p["greedy"]["margins"].get<std::vector<double>>();
    const auto& noise = p["stats"]["f16_noise_prefill"];
    prompt.f16_noise = (noise.is_number() ? noise.get<double>() : 0.0) / deviation(prompt.logits);
  }
  return prompts;
}

}  // namespace ztvm::tests
