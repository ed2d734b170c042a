#pragma once
// Opens a device and a model on it, reading the model's file piece by piece as the engine asks for it.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/download/background_record.hpp"
#include "apps/model_source.hpp"
#include "apps/tuning_store.hpp"
#include "base/error.hpp"
#include "engine/engine.hpp"
#include "gpu/webgpu_device.hpp"

namespace ztvm::app {

// Which model, and what runs it.
struct ModelOptions {
  std::string model;  // alias, folder or .gguf
  engine::Backend backend = engine::Backend::gpu;
  gpu::NativeOptions device;          // for Engine::profile_decode() with timestamps
  std::uint32_t context = 0;          // tokens; 0: the model's own
  std::optional<gpu::Target> target;  // kernel set; none: chosen for the adapter
  model::KvType kv = model::KvType::floats;
  engine::Autotune autotune = engine::Autotune::off;
  gpu::LockstepReport* report = nullptr;  // for Backend::lockstep
  // If set, the engine runs on what this makes of the device.
  std::function<std::unique_ptr<gpu::Device>(std::unique_ptr<gpu::Device>)> wrap_device;
  bool record = true;  // the hashes of its files, at the first load
  // Told at the end of a LoadedModel, in a sentence, when recording found a file that is not as it should be.
  BackgroundRecord::Warn warn;
};

// The engine borrows the device, so it is declared after it and destroyed first.
struct LoadedModel {
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<BackgroundRecord> record = nullptr;  // of a model with a folder of its own
};

// Called while weights are read, with the bytes supplied so far and those of all weights.
using LoadProgress = std::function<void(std::uint64_t n_done, std::uint64_t n_total)>;

// A GPU through webgpu.h, or the host device that runs the kernels' oracles. Errors: device, not_found.
Result<std::unique_ptr<gpu::Device>> open_device(engine::Backend backend, const gpu::NativeOptions& options);

// What the engine is opened with, and afterwards keeping what it measured; where that fails, `warn` is told why.
engine::EngineOptions options_for(const gpu::Device& device, const ModelOptions& options);
void keep_measured(const gpu::Device& device, const engine::EngineOptions& options,
                   const engine::Engine& engine, const BackgroundRecord::Warn& warn);

// Returns once all pipelines of a supplied model are compiled. Errors: of the device.
Result<void> wait_until_ready(engine::Engine& engine);

// Reads what comes before the weights: configs, tokenizer, headers. Errors: of the files, the format, the device.
Result<void> supply_headers(engine::Engine& engine, ModelSource& source);

// Called for each range of weights, once the engine has its bytes.
using SupplyObserver = std::function<void(const load::WantedRange& range, std::size_t n_bytes)>;

// Reads everything that the engine wants, weights in a thread that is ahead of it. Errors: of the files, the format, the
// device.
Result<void> supply_model(engine::Engine& engine, ModelSource& source, const SupplyObserver& observe);

// Returns once the engine is ready. Errors: of the file, the format, the device.
Result<LoadedModel> load_model(const ModelOptions& options, const LoadProgress& progress);

}  // namespace ztvm::app
