// The picture has every point, bar and name, and stays XML whatever the names are.
#include "apps/bench/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

namespace ztvm::app {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

const Plot k_plot = {
    .title = "a < b & \"c\"",
    .subtitle = "",
    .series = {{.name = "ours", .depths = {0, 128, 2048}, .tokens_per_s = {{{90, 100}}, {{95}}, {{70}}}},
               {.name = "peer <1>", .depths = {0, 128, 2048}, .tokens_per_s = {{{50}}, {}, {{40}}}}},
    .bars = {{.name = "up", .gb_per_s = 500.0, .time_share = 0.5},
             {.name = "down", .gb_per_s = 250.0, .time_share = 0.25}},
    .bars_title = "Kernels",
    .stream_gb_per_s = 1000.0};

TEST(Plot, ShowsEveryPointAndBar) {
  const std::string svg = plot_svg(k_plot);
  EXPECT_EQ(count(svg, "<title>"), 5u);
  EXPECT_EQ(count(svg, "rx=\"2\""), 2u);
  EXPECT_NE(svg.find(">50.0 %<"), std::string::npos);
  EXPECT_NE(svg.find("peer &lt;1&gt;"), std::string::npos);
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_EQ(count(svg, "nan"), 0u);
}

TEST(Plot, OfOneDepthWithoutBarsIsWhole) {
  Plot plot = k_plot;
  plot.bars.clear();
  plot.series = {{.name = "ours", .depths = {0}, .tokens_per_s = {{{3.5}}}}};
  const std::string svg = plot_svg(plot);
  EXPECT_EQ(count(svg, "<title>"), 1u);
  EXPECT_EQ(count(svg, "nan"), 0u);
  EXPECT_EQ(count(svg, "inf"), 0u);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(AxisTicks, AreRoundAndReachTheGreatestValue) {
  EXPECT_EQ(axis_ticks(100.0), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(axis_ticks(101.0), (std::vector<double>{0, 20, 40, 60, 80, 100, 120}));
  for (const double max : {0.003, 1.0, 7.0, 318.0, 4300.0, 17100.0}) {
    const auto ticks = axis_ticks(max);
    EXPECT_GE(ticks.back(), max * 0.999999);
    EXPECT_LE(ticks.size(), 7u);
    EXPECT_GE(ticks.size(), 3u);
  }
  EXPECT_EQ(axis_ticks(0.0).size(), 2u);
}

}  // namespace
}  // namespace ztvm::app
