#include "apps/loaded_model.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "apps/clock.hpp"
#include "apps/model_catalog.hpp"
#include "gpu/host_device.hpp"
#include "gpu/webgpu_device.hpp"

namespace ztvm::app {

Result<void> wait_until_ready(engine::Engine& engine) {
  while (true) {
    auto ready = engine.ready();
    if (!ready) return forward(ready);
    if (*ready) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<std::unique_ptr<gpu::Device>> open_device(engine::Backend backend, const std::string& adapter,
                                                 bool timestamps) {
  if (backend == engine::Backend::reference) return gpu::make_host_device();
  return gpu::open_webgpu_device({.adapter = adapter, .timestamps = timestamps});
}

Result<void> supply_model(engine::Engine& engine, ModelSource& source, const LoadProgress& progress) {
  std::vector<std::byte> bytes;
  std::uint64_t n_done = 0;
  while (const auto range = engine.wanted()) {
    const auto plan = engine.memory_plan();
    if (auto supplied = supply_range(engine, source, *range, bytes); !supplied) return supplied;
    if (!plan) continue;
    n_done += bytes.size();
    progress(n_done, plan->read_bytes);
  }
  return {};
}

Result<LoadedModel> load_model(const ModelOptions& options, const LoadProgress& progress) {
  auto path = resolve_model(options.model, model_roots());
  if (!path) return forward(path);
  auto source = ModelSource::open(path->path);
  if (!source) return forward(source);
  auto device = open_device(options.backend, options.adapter, options.timestamps);
  if (!device) return forward(device);
  if (options.wrap_device) *device = options.wrap_device(std::move(*device));
  auto engine = engine::Engine::open(**device, source->name(),
                                     {.context = options.context,
                                      .backend = options.backend,
                                      .target = options.target,
                                      .now_ms = now_ms,
                                      .report = options.report});
  if (!engine) return forward(engine);
  if (auto supplied = supply_model(**engine, *source, progress); !supplied) return forward(supplied);
  if (auto ready = wait_until_ready(**engine); !ready) return forward(ready);
  return LoadedModel{.device = std::move(*device), .engine = std::move(*engine)};
}

}  // namespace ztvm::app
