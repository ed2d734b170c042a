#include "apps/bench/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "apps/bench/svg.hpp"

namespace ztvm::app {
namespace {

// All in pixels.
constexpr double k_width = 760.0;
constexpr double k_margin = 24.0;
constexpr double k_left = 76.0;  // of the chart, its labels before it
constexpr double k_right = k_width - 32.0;
constexpr double k_chart_top = 132.0;
constexpr double k_chart_height = 240.0;
constexpr double k_bar_left = 180.0;
constexpr double k_bar_right = k_width - 230.0;
constexpr double k_bar_step = 24.0;
constexpr double k_bar_height = 14.0;
constexpr double k_min_tick_gap = 40.0;  // between labels of depths

// Colours that stay apart for most kinds of colour blindness; on dark pages a lighter step of each.
constexpr std::string_view k_style = R"(svg {
  --page: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #d8dee4;
  --c0: #2a6fdb; --c1: #d1580b; --c2: #1a7f64; --c3: #9a3fb5; --c4: #a07400; --c5: #c0306a;
  font: 13px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  svg {
    --page: #14171c; --ink: #e6e9ed; --soft: #a3adb8; --line: #333a43;
    --c0: #6aa5ff; --c1: #ff9a52; --c2: #4cc9a4; --c3: #d58bec; --c4: #e0b43c; --c5: #ff85b0;
  }
}
.page { fill: var(--page); }
text { fill: var(--ink); }
.soft { fill: var(--soft); }
.title { font-size: 17px; font-weight: 600; }
.head { font-weight: 600; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
path { fill: none; }
.grid { stroke: var(--line); }
.axis { stroke: var(--soft); }
.stream { stroke: var(--ink); stroke-dasharray: 5 4; }
.line { stroke-width: 2; }
.f0 { fill: var(--c0); } .f1 { fill: var(--c1); } .f2 { fill: var(--c2); }
.f3 { fill: var(--c3); } .f4 { fill: var(--c4); } .f5 { fill: var(--c5); }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); }
.s3 { stroke: var(--c3); } .s4 { stroke: var(--c4); } .s5 { stroke: var(--c5); }
)";

std::string number(double value) {
  return value < 10.0 && value != std::floor(value) ? fmt::format("{:.1f}", value)
                                                    : fmt::format("{:.0f}", value);
}

void draw_legend(Svg& svg, const std::vector<PlotSeries>& series, double y) {
  constexpr double k_char_width = 7.2;  // of this size, with some room
  double x = k_left;
  for (std::size_t i = 0; i < series.size(); ++i) {
    svg.dot(x + 5, y - 4, 5, fmt::format("f{}", i), "");
    svg.text(x + 16, y, "", series[i].name);
    x += 40.0 + k_char_width * static_cast<double>(series[i].name.size());
  }
}

// Where depths and rates lie in the picture.
struct Scale {
  double max_depth = 1.0;
  double max_rate = 1.0;
  double x(double depth) const { return k_left + (k_right - k_left) * depth / max_depth; }
  double y(double rate) const { return k_chart_top + k_chart_height * (1.0 - rate / max_rate); }
};

void draw_axes(Svg& svg, const Scale& scale, const std::vector<double>& rates,
               const std::vector<std::uint32_t>& depths) {
  for (const double rate : rates) {
    svg.line(k_left, scale.y(rate), k_right, scale.y(rate), rate == 0.0 ? "axis" : "grid");
    svg.text(k_left - 8, scale.y(rate) + 4, "soft end", number(rate));
  }
  const double bottom = k_chart_top + k_chart_height;
  double last = -k_width;
  for (const std::uint32_t depth : depths) {
    const double x = scale.x(depth);
    svg.line(x, bottom, x, bottom + 5, "axis");
    // The greatest depth keeps its label; others give way where there is no room.
    const bool is_last = depth == depths.back();
    if (x - last < k_min_tick_gap || (!is_last && scale.x(depths.back()) - x < k_min_tick_gap)) continue;
    svg.text(x, bottom + 20, "soft middle", fmt::format("{}", depth));
    last = x;
  }
  svg.text((k_left + k_right) / 2, bottom + 42, "soft middle", "depth: tokens before those that are decoded");
  svg.text(k_left, k_chart_top - 14, "soft", "decoded tokens/s: median, lowest to highest");
}

void draw_series(Svg& svg, const Scale& scale, const PlotSeries& series, std::size_t color) {
  const std::string fill = fmt::format("f{}", color);
  const std::string stroke = fmt::format("line s{}", color);
  std::string path;
  for (std::size_t i = 0; i < series.depths.size(); ++i) {
    const bench::Samples& samples = series.tokens_per_s[i];
    if (samples.values.empty()) continue;
    const double x = scale.x(series.depths[i]);
    const double y = scale.y(samples.median());
    const auto [low, high] = std::ranges::minmax(samples.values);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
    svg.line(x, scale.y(low), x, scale.y(high), stroke);
    svg.dot(x, y, 4, fill,
            fmt::format("{}: {:.1f} tokens/s at {}", series.name, samples.median(), series.depths[i]));
  }
  if (!path.empty()) svg.path(path, stroke);
}

// Returns where the chart ends.
double draw_chart(Svg& svg, const std::vector<PlotSeries>& series) {
  Scale scale;
  std::vector<std::uint32_t> depths;
  double highest = 0.0;
  for (const PlotSeries& one : series) {
    depths.insert(depths.end(), one.depths.begin(), one.depths.end());
    for (const bench::Samples& samples : one.tokens_per_s) {
      for (const double rate : samples.values) highest = std::max(highest, rate);
    }
  }
  std::ranges::sort(depths);
  const auto doubled = std::ranges::unique(depths);
  depths.erase(doubled.begin(), doubled.end());
  const std::vector<double> rates = axis_ticks(highest);
  scale.max_rate = rates.back();
  if (!depths.empty()) scale.max_depth = std::max(1.0, static_cast<double>(depths.back()));
  draw_legend(svg, series, 88.0);
  draw_axes(svg, scale, rates, depths);
  for (std::size_t i = 0; i < series.size(); ++i) draw_series(svg, scale, series[i], i % k_n_plot_colors);
  return k_chart_top + k_chart_height + 62.0;
}

double draw_bars(Svg& svg, const Plot& plot, double top) {
  double highest = plot.stream_gb_per_s;
  for (const PlotBar& bar : plot.bars) highest = std::max(highest, bar.gb_per_s);
  const std::vector<double> ticks = axis_ticks(highest);
  const auto x = [&ticks](double gb_per_s) {
    return k_bar_left + (k_bar_right - k_bar_left) * gb_per_s / ticks.back();
  };
  svg.text(k_margin, top, "head", plot.bars_title);
  const double first = top + 44.0;
  const double bottom = first + k_bar_step * static_cast<double>(plot.bars.size());
  for (const double tick : ticks) {
    svg.line(x(tick), first - 6, x(tick), bottom, tick == 0.0 ? "axis" : "grid");
    svg.text(x(tick), bottom + 18, "soft middle", number(tick));
  }
  double y = first;
  for (const PlotBar& bar : plot.bars) {
    svg.text(k_bar_left - 10, y + 12, "end", bar.name);
    if (bar.gb_per_s > 0.0) {
      svg.bar(k_bar_left, y, std::max(1.0, x(bar.gb_per_s) - k_bar_left), k_bar_height, "f0");
      svg.text(k_width - k_margin - 100, y + 12, "end",
               fmt::format("{:.1f} %", 100.0 * bar.gb_per_s / plot.stream_gb_per_s));
    }
    svg.text(k_width - k_margin, y + 12, "soft end", fmt::format("{:.1f} %", 100.0 * bar.time_share));
    y += k_bar_step;
  }
  const double stream = x(plot.stream_gb_per_s);
  svg.line(stream, first - 6, stream, bottom, "stream");
  svg.text(stream, first - 14, "soft end", fmt::format("stream: {} GB/s", number(plot.stream_gb_per_s)));
  svg.text(k_width - k_margin - 100, first - 14, "soft end", "of the stream");
  svg.text(k_width - k_margin, first - 14, "soft end", "of the time");
  svg.text((k_bar_left + k_bar_right) / 2, bottom + 40, "soft middle", "GB/s of weights");
  return bottom + 60.0;
}

}  // namespace

std::vector<double> axis_ticks(double max) {
  constexpr double k_max_steps = 6.0;
  const double least = std::max(max, 1e-9) / k_max_steps;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  double step = 10.0 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= least * (1.0 - 1e-9)) step = factor * power;
  }
  std::vector<double> ticks = {0.0, step};
  while (ticks.back() < max * (1.0 - 1e-9)) ticks.push_back(step * static_cast<double>(ticks.size()));
  return ticks;
}

std::string plot_svg(const Plot& plot) {
  Svg svg;
  svg.text(k_margin, 34, "title", plot.title);
  svg.text(k_margin, 56, "soft", plot.subtitle);
  double bottom = draw_chart(svg, plot.series);
  if (!plot.bars.empty()) bottom = draw_bars(svg, plot, bottom + 22.0);
  return svg.finish(k_width, bottom, k_style);
}

}  // namespace ztvm::app
