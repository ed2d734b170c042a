#include "apps/cli/bench_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/bench_json.hpp"
#include "apps/cli/terminal.hpp"

namespace ztvm::app {
namespace {

constexpr std::string_view k_footnote =
    "llama-bench chooses no token and copies the logits to the host instead; our decode includes the choice.";

// Below that an op does something else than reading weights.
constexpr std::uint64_t k_min_weight_bytes = 1u << 20;

std::string cell(const bench::Samples& samples) {
  return fmt::format("{:>10.1f} ({:>3.0f} %)", samples.median(), 100.0 * samples.spread());
}

std::string figure(const bench::Samples& samples, std::string_view unit) {
  return fmt::format("{:9.1f} {} (spread {:.0f} %)", samples.median(), unit, 100.0 * samples.spread());
}

}  // namespace

void print_figures(const bench::BenchFigures& figures) {
  print_now(fmt::format(
      "{}, {}, kernels {}{}\nstream       {:9.1f} GB/s\nprefill {:4} {}, first token after {:.1f} ms\n",
      figures.adapter, figures.driver, figures.kernels,
      figures.forms.empty() ? ""
                            : fmt::format(", the fastest of their forms for {} shapes", figures.forms.size()),
      figures.stream_gb_per_s, figures.prefill.n_tokens, figure(figures.prefill.tokens_per_s, "tokens/s"),
      figures.prefill.ttft_ms.median()));
  for (const bench::DecodeFigure& decode : figures.decode) {
    print_now(fmt::format("decode @{:<4} {}, {:.2f} GB a token, {:.0f} GB/s = {:.1f} % of the stream\n",
                          decode.depth, figure(decode.tokens_per_s, "tokens/s"),
                          static_cast<double>(decode.bytes_per_token) / 1e9, decode.gb_per_s(),
                          100.0 * decode.gb_per_s() / figures.stream_gb_per_s));
    print_now(fmt::format(
        "             {:9.1f} tokens/s with the prompt's time, nothing cached; first token after {:.1f} ms\n",
        decode.total_tokens_per_s.median(), decode.ttft_ms.median()));
    print_now(fmt::format(
        "             {} dispatches and {} submits a token, {:.3f} ms of the host in them\n",
        decode.host_per_token.n_dispatches, decode.host_per_token.n_submits, decode.host_per_token.ms));
  }
}

void print_profile(std::string_view pass, const engine::PassTimes& times, double stream_gb_per_s) {
  double total = 0.0;
  for (const engine::KernelTime& time : times.kernels) total += time.ms;
  print_now(fmt::format("\n{:<26} {:>5} {:>10} {:>9} {:>7} {:>9} {:>9}\n", pass, "n", "ms/pass", "us each",
                        "share", "GB/s", "of stream"));
  for (const engine::KernelTime& time : times.kernels) {
    const double gb_per_s = static_cast<double>(time.n_bytes) / time.ms / 1e6;
    print_now(fmt::format("{:<26} {:>5} {:>10.4f} {:>9.2f} {:>6.1f}%", time.name, time.n_ops, time.ms,
                          1000.0 * time.ms / time.n_ops, 100.0 * time.ms / total));
    print_now(time.n_bytes < k_min_weight_bytes
                  ? "\n"
                  : fmt::format(" {:>9.0f} {:>8.1f}%\n", gb_per_s, 100.0 * gb_per_s / stream_gb_per_s));
  }
  print_now(fmt::format("{:<26} {:>5} {:>10.4f}\n{:<26} {:>5} {:>10.4f}\n", "all, each timed", "", total,
                        "timed as a whole", "", times.whole_ms));
}

void print_idle(const bench::DecodeFigure& decode, double gpu_ms) {
  const double wall_ms = 1000.0 / decode.tokens_per_s.median();
  print_now(fmt::format("\ndecode @{}: {:.3f} ms a token; {:.3f} ms of the GPU for one, timed as a whole: ",
                        decode.depth, wall_ms, gpu_ms));
  print_now(gpu_ms < wall_ms
                ? fmt::format("it is idle for at most {:.1f} %\n", 100.0 * (wall_ms - gpu_ms) / wall_ms)
                : "it is never idle, within the noise\n");
}

void print_comparison(const Comparison& comparison) {
  print_now(fmt::format("\n{:<14}{:>18}", fmt::format("in turn, {}x", comparison.n_rounds), "ours"));
  for (const PeerFigures& peer : comparison.peers)
    if (peer.has_figures()) print_now(fmt::format("{:>27}", peer.name()));
  print_now("   ours / best\n");
  for (const ComparedFigure& figure : comparison.figures) {
    print_now(fmt::format("{:<14}{}", figure.name, cell(figure.ours)));
    for (std::size_t i = 0; i < figure.peers.size(); ++i) {
      if (const auto ratio = figure.ratio(i))
        print_now(fmt::format("{}{:>8.2f}x", cell(figure.peers[i]), *ratio));
    }
    const auto best = figure.best_peer();
    print_now(best ? fmt::format("{:>13.2f}x\n", *figure.ratio(*best)) : "\n");
  }
  print_now("Tokens/s, median (spread); x: ours / the peer's.\n");
  for (const PeerFigures& peer : comparison.peers) {
    if (peer.has_figures()) {
      print_now(fmt::format("{}: {}, version {}: {}\n", peer.name(), peer.answer.device, peer.answer.version,
                            peer.answer.command));
    }
    if (!peer.problem.empty()) print_now(fmt::format("{} not compared: {}\n", peer.name(), peer.problem));
  }
  print_now(fmt::format("{}\n", k_footnote));
}

Json comparison_json(const Comparison& comparison) {
  Json json{{"n_rounds", comparison.n_rounds},
            {"unit", "tokens/s"},
            {"footnote", k_footnote},
            {"peers", Json::array()},
            {"figures", Json::array()}};
  for (const PeerFigures& peer : comparison.peers) {
    Json entry{{"peer", peer.name()}, {"started_as", peer.command}};
    if (peer.has_figures()) {
      entry["device"] = peer.answer.device;
      entry["version"] = peer.answer.version;
      entry["command"] = peer.answer.command;
    }
    if (!peer.problem.empty()) entry["problem"] = peer.problem;
    json["peers"].push_back(std::move(entry));
  }
  for (const ComparedFigure& figure : comparison.figures) {
    Json entry{{"figure", figure.name}, {"ours", bench::samples_json(figure.ours)}, {"peers", Json::array()}};
    for (std::size_t i = 0; i < figure.peers.size(); ++i) {
      const auto ratio = figure.ratio(i);
      if (!ratio) continue;
      Json samples = bench::samples_json(figure.peers[i]);
      samples["peer"] = comparison.peers[i].name();
      samples["ratio"] = *ratio;
      entry["peers"].push_back(std::move(samples));
    }
    if (const auto best = figure.best_peer()) {
      entry["best_peer"] = comparison.peers[*best].name();
      entry["ratio_to_best"] = *figure.ratio(*best);
    }
    json["figures"].push_back(std::move(entry));
  }
  return json;
}

Plot plot_of(const bench::BenchFigures& figures, const Comparison* comparison) {
  Plot plot;
  plot.subtitle = fmt::format("{}, {}, kernels {}", figures.adapter, figures.driver, figures.kernels);
  plot.stream_gb_per_s = figures.stream_gb_per_s;
  PlotSeries& ours =
      plot.series.emplace_back(PlotSeries{.name = "Zero TVM", .depths = {}, .tokens_per_s = {}});
  for (const bench::DecodeFigure& decode : figures.decode) {
    ours.depths.push_back(decode.depth);
    ours.tokens_per_s.push_back(decode.tokens_per_s);
  }
  if (comparison == nullptr) return plot;
  const std::vector<std::uint32_t> depths = ours.depths;
  for (const PeerFigures& peer : comparison->peers) {
    if (!peer.has_figures()) continue;
    plot.series.push_back(
        {.name = peer.name(), .depths = depths, .tokens_per_s = peer.answer.decode_tokens_per_s});
  }
  return plot;
}

std::vector<PlotBar> plot_bars(std::span<const engine::KernelTime> times) {
  double total_ms = 0.0;
  for (const engine::KernelTime& time : times) total_ms += time.ms;
  std::vector<PlotBar> bars;
  PlotBar others = {.name = "without weights", .gb_per_s = 0.0, .time_share = 0.0};
  for (const engine::KernelTime& time : times) {
    const double share = time.ms / total_ms;
    if (time.n_bytes < k_min_weight_bytes) {
      others.time_share += share;
    } else {
      bars.push_back({.name = time.name,
                      .gb_per_s = static_cast<double>(time.n_bytes) / time.ms / 1e6,
                      .time_share = share});
    }
  }
  bars.push_back(std::move(others));
  return bars;
}

}  // namespace ztvm::app
