#include "apps/loaded_model.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "apps/file_source.hpp"
#include "apps/model_catalog.hpp"
#include "gpu/host_device.hpp"
#include "gpu/webgpu_device.hpp"

namespace ztvm::app {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Result<void> supply_file(engine::Engine& engine, const FileSource& file, const LoadProgress& progress) {
  std::vector<std::byte> piece;
  while (const auto range = engine.wanted()) {
    if (range->n_bytes > file.n_bytes()) {
      return fail(ErrorCode::corrupt_file, "\"" + file.name() + "\" is truncated.");
    }
    piece.resize(range->n_bytes);
    if (auto read = file.read(range->offset, piece); !read) return read;
    if (auto supplied = engine.supply(piece); !supplied) return supplied;
    progress(range->offset + range->n_bytes, file.n_bytes());
  }
  return {};
}

Result<void> wait_until_ready(engine::Engine& engine) {
  while (true) {
    auto ready = engine.ready();
    if (!ready) return forward(ready);
    if (*ready) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Result<std::unique_ptr<gpu::Device>> open_device(engine::Backend backend, const std::string& adapter) {
  if (backend == engine::Backend::reference) return gpu::make_host_device();
  return gpu::open_webgpu_device({.adapter = adapter});
}

Result<LoadedModel> load_model(const ModelOptions& options, const LoadProgress& progress) {
  auto path = resolve_model(options.model, model_roots());
  if (!path) return forward(path);
  auto file = FileSource::open(path->path);
  if (!file) return forward(file);
  auto device = open_device(options.backend, options.adapter);
  if (!device) return forward(device);
  auto engine = engine::Engine::open(**device, file->name(), file->n_bytes(),
                                     {.context = options.context,
                                      .backend = options.backend,
                                      .target = options.target,
                                      .now_ms = now_ms,
                                      .report = options.report});
  if (!engine) return forward(engine);
  if (auto supplied = supply_file(**engine, *file, progress); !supplied) return forward(supplied);
  if (auto ready = wait_until_ready(**engine); !ready) return forward(ready);
  return LoadedModel{.device = std::move(*device), .engine = std::move(*engine)};
}

}  // namespace ztvm::app
