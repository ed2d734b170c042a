#pragma once
// What `zerotvm bench` prints of a measurement, and what it stores of it in --json and --plot.
#include <span>
#include <string_view>
#include <vector>

#include "apps/bench/comparison.hpp"
#include "apps/bench/plot.hpp"
#include "base/json.hpp"
#include "bench/figures.hpp"
#include "engine/engine.hpp"

namespace ztvm::app {

void print_figures(const bench::BenchFigures& figures);
// For how much of the time the GPU has nothing to do: a token's wall time beside the GPU's for one token alone.
void print_idle(const bench::DecodeFigure& decode, double gpu_ms);
void print_profile(std::string_view pass, const engine::PassTimes& times, double stream_gb_per_s);
void print_comparison(const Comparison& comparison);

Json comparison_json(const Comparison& comparison);

// Decode of ours and, unless null, of the peers; without a title and bars.
Plot plot_of(const bench::BenchFigures& figures, const Comparison* comparison);
// Of the kernels that read weights, and one for all others together.
std::vector<PlotBar> plot_bars(std::span<const engine::KernelTime> times);

}  // namespace ztvm::app
