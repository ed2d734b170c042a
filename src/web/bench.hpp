#pragma once
// The bench page's two measurements, each on a device of its own: the rates, and the time of each kind of kernel.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "engine/model.hpp"
#include "engine/profile.hpp"
#include "engine/tuning_file.hpp"
#include "gpu/wasm_device.hpp"

namespace ztvm::web {

// A model of a published shape with random weights, and what is measured of it.
struct BenchRequest {
  std::string model;           // alias
  std::uint32_t n_layers = 0;  // 0: all
  model::KvType kv = model::KvType::floats;
  engine::Autotune autotune = engine::Autotune::off;
  std::string tuning;  // what was measured before, as text
  bench::BenchOptions options;
};

// What it would take, before anything is allocated. Errors: as of engine::plan_random_model(), with numbers.
Result<engine::MemoryPlan> plan_bench(const gpu::Caps& caps, const BenchRequest& request);

// Prefill and decode.
class BenchRun {
 public:
  static Result<std::unique_ptr<BenchRun>> open(gpu::Device& device, BenchRequest request);

  // Compiles and measures forms; step() comes once it is true.
  Result<bool> ready();
  const engine::Engine& engine() const { return *engine_; }
  Result<bool> step() { return benchmark_->step(false); }
  const bench::BenchProgress& progress() const { return benchmark_->progress(); }
  // Errors: a rate that the memory does not give.
  Result<Json> figures() const;

 private:
  BenchRun(gpu::Device& device, BenchRequest request);
  BenchRequest request_;
  bench::MeteredDevice device_;
  std::unique_ptr<engine::Engine> engine_;
  std::optional<bench::Benchmark> benchmark_;
};

// Kernels of a prefill chunk, then of a decoded token at the last depth. The device was opened with timestamps.
class ProfileRun {
 public:
  static Result<std::unique_ptr<ProfileRun>> open(gpu::WasmDevice& device, const BenchRequest& request);

  // Goes on. `coarse`: the clock has steps longer than a kernel, so that means over many passes are taken.
  Result<bool> step(bool coarse);
  double part() const;
  Json times() const;

 private:
  ProfileRun(gpu::WasmDevice& device, std::unique_ptr<engine::Model> model, const BenchRequest& request);
  void begin(std::uint32_t n_rows, std::uint32_t depth);

  gpu::WasmDevice& device_;
  std::unique_ptr<engine::Model> model_;
  std::uint32_t prompt_tokens_ = 0;
  std::uint32_t depth_ = 0;
  std::optional<engine::PassProfile> profile_;
  std::size_t n_samples_ = 1;  // that are wanted of each op
  bool timing_ = false;
  Result<void> status_;
  Json prefill_;
  Json decode_;
};

}  // namespace ztvm::web
