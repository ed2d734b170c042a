#include "apps/loaded_model.hpp"

#include <vector>

#include "apps/clock.hpp"
#include "apps/model_catalog.hpp"
#include "apps/read_ahead.hpp"
#include "apps/tuning_store.hpp"
#include "gpu/host_device.hpp"
#include "gpu/webgpu_device.hpp"

namespace ztvm::app {

Result<void> wait_until_ready(engine::Engine& engine) {
  while (true) {
    auto ready = engine.ready(true);
    if (!ready) return forward(ready);
    if (*ready) return {};
  }
}

Result<std::unique_ptr<gpu::Device>> open_device(engine::Backend backend, const gpu::NativeOptions& options) {
  if (backend == engine::Backend::reference) return gpu::make_host_device();
  return gpu::open_webgpu_device(options);
}

namespace {

// Ranges of weights that are read before they are wanted.
constexpr std::size_t k_reads_ahead = 4;

// Hands the wanted range over, and has those behind it read meanwhile.
Result<std::size_t> supply_weights(engine::Engine& engine, ReadAhead& reader) {
  while (reader.n_announced() < k_reads_ahead) {
    auto later = engine.wanted_later(reader.n_announced());
    if (!later) break;
    reader.announce(std::move(*later));
  }
  ReadRange range = reader.take();
  if (!range.found) return forward(range.found);
  auto supplied = *range.found ? engine.supply(range.bytes, range.n_file_bytes) : engine.supply_missing();
  if (!supplied) return forward(supplied);
  const std::size_t n_bytes = range.bytes.size();
  reader.recycle(std::move(range.bytes));
  return n_bytes;
}

}  // namespace

Result<void> supply_headers(engine::Engine& engine, ModelSource& source) {
  std::vector<std::byte> bytes;
  while (!engine.memory_plan()) {
    const auto range = engine.wanted();
    check(range.has_value(), "a model has a memory plan before all is read");
    if (auto supplied = supply_range(engine, source, *range, bytes); !supplied) return supplied;
  }
  return {};
}

Result<void> supply_model(engine::Engine& engine, ModelSource& source, const SupplyObserver& observe) {
  if (auto headers = supply_headers(engine, source); !headers) return headers;
  ReadAhead reader(source);
  while (const auto range = engine.wanted()) {
    const auto n_bytes = supply_weights(engine, reader);
    if (!n_bytes) return std::unexpected(n_bytes.error());
    observe(*range, *n_bytes);
  }
  return {};
}

engine::EngineOptions options_for(const gpu::Device& device, const ModelOptions& options) {
  engine::EngineOptions made = {.context = options.context,
                                .backend = options.backend,
                                .target = options.target,
                                .kv = options.kv,
                                .now_ms = now_ms,
                                .report = options.report};
  use_kept_tuning(device.caps(), options.autotune, made);
  return made;
}

void keep_measured(const gpu::Device& device, const engine::EngineOptions& options,
                   const engine::Engine& engine, const BackgroundRecord::Warn& warn) {
  auto kept = keep_tuning(device.caps(), options, engine);
  if (!kept && warn) warn(kept.error().text);
}

Result<LoadedModel> load_model(const ModelOptions& options, const LoadProgress& progress) {
  auto path = resolve_model(options.model, model_roots());
  if (!path) return forward(path);
  FileStamps before = options.record && !path->folder.empty() ? stamps_of(path->folder) : FileStamps{};
  auto source = ModelSource::open(path->path);
  if (!source) return forward(source);
  auto device = open_device(options.backend, options.device);
  if (!device) return forward(device);
  if (options.wrap_device) *device = options.wrap_device(std::move(*device));
  const engine::EngineOptions engine_options = options_for(**device, options);
  auto engine = engine::Engine::open(**device, source->name(), engine_options);
  if (!engine) return forward(engine);
  std::uint64_t n_done = 0;
  auto supplied = supply_model(**engine, *source, [&](const load::WantedRange&, std::size_t n_bytes) {
    n_done += n_bytes;
    progress(n_done, (*engine)->memory_plan()->read_bytes);
  });
  if (!supplied) return forward(supplied);
  if (auto ready = wait_until_ready(**engine); !ready) return forward(ready);
  keep_measured(**device, engine_options, **engine, options.warn);
  LoadedModel model{.device = std::move(*device), .engine = std::move(*engine)};
  if (options.record && !path->folder.empty())
    model.record = std::make_unique<BackgroundRecord>(path->folder, std::move(before), options.warn);
  return model;
}

}  // namespace ztvm::app
