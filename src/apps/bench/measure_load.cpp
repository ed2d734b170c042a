#include "apps/bench/measure_load.hpp"

#include <algorithm>
#include <set>

#include "apps/bench/page_cache.hpp"
#include "apps/bench/process_memory.hpp"
#include "apps/clock.hpp"
#include "apps/file_source.hpp"
#include "apps/model_catalog.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_plain_piece_bytes = 4u << 20;

// One load, without pipelines.
struct Load {
  std::set<std::string> files;  // that hold weights
  std::uint64_t n_bytes = 0;
  std::uint64_t n_reads = 0;
  std::uint64_t weights_bytes = 0;  // on the device
  double headers_ms = 0.0;
  double weights_ms = 0.0;
};

// Returns once the device has done everything it was given.
Result<void> drain(gpu::Device& device) {
  constexpr std::uint64_t k_bytes = 4;
  auto buffer = gpu::make_buffer(device, k_bytes, "end of the load");
  if (!buffer) return forward(buffer);
  auto read = gpu::read_now(device, buffer->id(), 0, k_bytes);
  if (!read) return forward(read);
  return {};
}

Result<Load> load_once(gpu::Device& device, const fs::path& path, const ModelOptions& options) {
  auto source = ModelSource::open(path);
  if (!source) return forward(source);
  const double started_ms = now_ms();
  auto engine = engine::Engine::open(
      device, source->name(), {.context = options.context, .target = options.target, .now_ms = now_ms});
  if (!engine) return forward(engine);
  Load load;
  if (auto opened = supply_headers(**engine, *source); !opened) return forward(opened);
  const double weights_started_ms = now_ms();
  auto supplied = supply_model(**engine, *source, [&](const load::WantedRange& range, std::size_t n_bytes) {
    load.files.insert(range.file);
    load.n_bytes += n_bytes;
    ++load.n_reads;
  });
  if (!supplied) return forward(supplied);
  if (auto drained = drain(device); !drained) return forward(drained);
  load.weights_ms = now_ms() - weights_started_ms;
  load.headers_ms = weights_started_ms - started_ms;
  load.weights_bytes = (*engine)->memory_plan()->weights_bytes;
  return load;
}

Result<double> plain_bytes_per_s(std::span<const fs::path> files) {
  std::vector<std::byte> piece(k_plain_piece_bytes);
  std::uint64_t n_bytes = 0;
  const double started_ms = now_ms();
  for (const fs::path& path : files) {
    auto file = FileSource::open(path);
    if (!file) return forward(file);
    for (std::uint64_t offset = 0; offset < file->n_bytes(); offset += piece.size()) {
      const auto part = MutableBytes(piece).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file->n_bytes() - offset)));
      if (auto read = file->read(offset, part); !read) return forward(read);
    }
    n_bytes += file->n_bytes();
  }
  return 1000.0 * static_cast<double>(n_bytes) / (now_ms() - started_ms);
}

// What the passes share.
class LoadBench {
 public:
  LoadBench(gpu::Device& device, fs::path path, const ModelOptions& options)
      : device_(device), path_(std::move(path)), options_(options) {}

  // The first load: counts, and the peak of memory.
  Result<void> examine(LoadFigures& figures) {
    if (auto reset = reset_resident_peak(); !reset) return reset;
    auto load = load_once(device_, path_, options_);
    if (!load) return forward(load);
    const auto peak = resident_peak_bytes();
    if (!peak) return std::unexpected(peak.error());
    figures.peak_bytes = *peak;
    if (device_.caps().kind == gpu::AdapterKind::cpu) figures.peak_weights_bytes = load->weights_bytes;
    figures.n_weight_bytes = load->n_bytes;
    figures.n_reads = load->n_reads;
    const bool is_folder = fs::is_directory(path_);
    for (const std::string& name : load->files) files_.push_back(is_folder ? path_ / name : path_);
    for (const fs::path& file : files_) figures.n_file_bytes += fs::file_size(file);
    return {};
  }

  Result<void> take(std::uint32_t repeat, bool cold, LoadPasses& passes, double& headers_ms) {
    for (std::uint32_t i = 0; i < repeat; ++i) {
      for (const bool plain : {i % 2 == 0, i % 2 != 0}) {
        auto done = plain ? take_plain(cold, passes) : take_load(cold, passes, headers_ms);
        if (!done) return done;
      }
    }
    return {};
  }

 private:
  Result<void> prepare(bool cold, LoadPasses& passes) {
    if (cold) {
      if (auto dropped = drop_cached(files_); !dropped) return dropped;
    }
    const auto share = cached_share(files_);
    if (!share) return std::unexpected(share.error());
    passes.cached_share = std::max(passes.cached_share, *share);
    return {};
  }
  Result<void> take_plain(bool cold, LoadPasses& passes) {
    if (auto prepared = prepare(cold, passes); !prepared) return prepared;
    auto rate = plain_bytes_per_s(files_);
    if (!rate) return forward(rate);
    passes.plain_bytes_per_s.values.push_back(*rate);
    return {};
  }
  Result<void> take_load(bool cold, LoadPasses& passes, double& headers_ms) {
    if (auto prepared = prepare(cold, passes); !prepared) return prepared;
    auto load = load_once(device_, path_, options_);
    if (!load) return forward(load);
    passes.load_bytes_per_s.values.push_back(1000.0 * static_cast<double>(load->n_bytes) / load->weights_ms);
    headers_ms = load->headers_ms;
    return {};
  }

  gpu::Device& device_;
  fs::path path_;
  const ModelOptions& options_;
  std::vector<fs::path> files_;
};

}  // namespace

Result<LoadFigures> measure_load(const ModelOptions& options, std::uint32_t repeat) {
  auto path = resolve_model(options.model, model_roots());
  if (!path) return forward(path);
  auto device = open_device(options.backend, options.device);
  if (!device) return forward(device);
  LoadBench bench(**device, path->path, options);
  LoadFigures figures{.adapter = (*device)->caps().adapter};
  if (auto examined = bench.examine(figures); !examined) return forward(examined);
  if (auto taken = bench.take(repeat, /*cold=*/true, figures.cold, figures.headers_ms); !taken)
    return forward(taken);
  if (auto taken = bench.take(repeat, /*cold=*/false, figures.warm, figures.headers_ms); !taken)
    return forward(taken);
  return figures;
}

}  // namespace ztvm::app
