#pragma once
// Models and goldens for tests of the engine: open a file on a backend, generate, compare with what transformers gave.
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "gpu/target.hpp"

namespace ztvm::tests {

inline const std::string k_tiny_llama = ZTVM_SOURCE_DIR "/tests/golden/llama/model/tiny-smollm2.Q4_1.gguf";
inline const std::string k_smollm2 = ZTVM_SOURCE_DIR "/models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

struct OpenOptions {
  engine::Backend backend = engine::Backend::reference;
  std::optional<gpu::Target> target;
  std::uint32_t context = 0;
  std::uint32_t max_rows = 0;  // of a prefill chunk; 0: the engine's choice
  gpu::LockstepReport* report = nullptr;
  model::KvType kv = model::KvType::floats;
  gpu::Tuning tuning;
  bool autotune = false;
};

// The engine borrows the device, so it is destroyed first.
struct OpenModel {
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<engine::Engine> engine;
};

// Opens a model, or throws with the reason.
OpenModel open_model(const std::string& path, const OpenOptions& options);

struct Generated {
  std::vector<std::uint32_t> ids;
  std::string text;
  engine::FinishReason finish = engine::FinishReason::none;
};
// Runs a generation that was begun to its end, or throws.
Generated run_to_end(engine::Engine& engine);
// Begins with these ids, or throws, and runs to the end.
Generated generate(engine::Engine& engine, std::span<const std::uint32_t> ids,
                   const engine::GenerateOptions& options);

nlohmann::json read_json(const std::string& path);
std::vector<float> read_floats(const std::string& path);

// Steps of `got` that equal `want`, and the first step whose golden margin is below `margin`: from there on rounding
// may choose another token, so equality is asked for up to it.
void expect_greedy(std::span<const std::uint32_t> got, std::span<const std::uint32_t> want,
                   std::span<const double> margins, double margin);

// Standard deviation of logits, the unit of their tolerances.
double deviation(std::span<const float> values);
double largest_difference(std::span<const float> a, std::span<const float> b);

}  // namespace ztvm::tests
