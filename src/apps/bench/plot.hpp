#pragma once
// A measurement as an SVG picture, readable on light and dark pages: decode against depth, and each kernel's share of the
// stream.
#include <cstdint>
#include <string>
#include <vector>

#include "bench/figures.hpp"

namespace ztvm::app {

inline constexpr std::size_t k_n_plot_colors = 6;  // more series share them

struct PlotSeries {
  std::string name;
  std::vector<std::uint32_t> depths;
  std::vector<bench::Samples> tokens_per_s;  // one a depth; empty: no point there
};

struct PlotBar {
  std::string name;
  double gb_per_s = 0.0;    // of weights; 0: it reads none
  double time_share = 0.0;  // of the whole pass, 0 to 1
};

struct Plot {
  std::string title;
  std::string subtitle;
  std::vector<PlotSeries> series;
  std::vector<PlotBar> bars;  // empty: that part is left out
  std::string bars_title;
  double stream_gb_per_s = 0.0;
};

std::string plot_svg(const Plot& plot);

// Round numbers from 0 to at least `max`, at most 6 steps.
std::vector<double> axis_ticks(double max);

}  // namespace ztvm::app
