#include "apps/cli/bench_load.hpp"

#include <fmt/format.h>

#include "apps/bench/measure_load.hpp"
#include "apps/cli/bench_json.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/terminal.hpp"

namespace ztvm::app {
namespace {

void print_passes(std::string_view name, const LoadPasses& passes) {
  const auto rate = [](const bench::Samples& samples) {
    return fmt::format("{:7.0f} MB/s (spread {:.0f} %)", samples.median() / 1e6, 100.0 * samples.spread());
  };
  print_now(fmt::format("{} ({:.0f} % cached)  load {}, plain read {}, ratio {:.2f}\n", name,
                        100.0 * passes.cached_share, rate(passes.load_bytes_per_s),
                        rate(passes.plain_bytes_per_s), passes.ratio()));
}

void print_figures(const LoadFigures& figures) {
  print_now(fmt::format("{}\nweights {} of {} in files, {} reads of {} on average; headers {:.0f} ms\n",
                        figures.adapter, format_bytes(figures.n_weight_bytes),
                        format_bytes(figures.n_file_bytes), figures.n_reads,
                        format_bytes(figures.n_weight_bytes / std::max<std::uint64_t>(figures.n_reads, 1)),
                        figures.headers_ms));
  print_passes("cold", figures.cold);
  print_passes("warm", figures.warm);
  print_now(fmt::format("peak memory {}", format_bytes(figures.peak_bytes)));
  print_now(figures.peak_weights_bytes == 0
                ? std::string("\n")
                : fmt::format(", of which {} are weights in this CPU adapter's buffers: {} besides\n",
                              format_bytes(figures.peak_weights_bytes),
                              format_bytes(figures.peak_host_bytes())));
}

Json passes_json(const LoadPasses& passes) {
  return {{"cached_share", passes.cached_share},
          {"load_bytes_per_s", bench::samples_json(passes.load_bytes_per_s)},
          {"plain_bytes_per_s", bench::samples_json(passes.plain_bytes_per_s)},
          {"ratio", passes.ratio()}};
}

}  // namespace

int bench_load(const ModelOptions& options, std::uint32_t repeat, const std::string& json) {
  const auto figures = measure_load(options, repeat);
  if (!figures) return report(figures.error());
  print_figures(*figures);
  if (json.empty()) return k_exit_ok;
  auto written = write_bench_json(json, {{"adapter", figures->adapter},
                                         {"n_file_bytes", figures->n_file_bytes},
                                         {"n_weight_bytes", figures->n_weight_bytes},
                                         {"n_reads", figures->n_reads},
                                         {"headers_ms", figures->headers_ms},
                                         {"cold", passes_json(figures->cold)},
                                         {"warm", passes_json(figures->warm)},
                                         {"peak_bytes", figures->peak_bytes},
                                         {"peak_weights_bytes", figures->peak_weights_bytes},
                                         {"peak_host_bytes", figures->peak_host_bytes()}});
  return written ? k_exit_ok : report(written.error());
}

}  // namespace ztvm::app
