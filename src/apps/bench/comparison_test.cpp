// The order of a comparison's rounds, its ratios, and what becomes of a peer that fails.
#include "apps/bench/comparison.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ztvm::app {
namespace {

const bench::BenchOptions k_bench = {.prompt_tokens = 512, .gen_tokens = 64, .depths = {128}, .repeat = 1};

bench::BenchFigures our_figures(double prefill, double decode) {
  bench::BenchFigures figures;
  figures.prefill = {.n_tokens = 512, .tokens_per_s = {{prefill}}, .ttft_ms = {{1.0}}};
  figures.decode.push_back({.depth = 128, .tokens_per_s = {{decode}}, .total_tokens_per_s = {{1.0}}});
  return figures;
}

PeerFigures peer_figures(std::string name, std::vector<double> prefill, std::vector<double> decode) {
  PeerFigures peer;
  peer.answer.name = std::move(name);
  peer.answer.prefill_tokens_per_s.values = std::move(prefill);
  if (!decode.empty()) peer.answer.decode_tokens_per_s.push_back({.values = std::move(decode)});
  return peer;
}

TEST(Comparison, RatiosAreOfMedians) {
  bench::BenchFigures ours = our_figures(300.0, 90.0);
  append(ours, our_figures(100.0, 100.0));
  append(ours, our_figures(200.0, 110.0));
  const PeerFigures peers[] = {peer_figures("slow", {90.0, 1000.0, 100.0}, {50.0, 50.0, 1.0}),
                               peer_figures("absent", {}, {}), peer_figures("fast", {50.0}, {400.0})};
  const auto figures = compared_figures(ours, peers);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].name, "prefill 512");
  EXPECT_DOUBLE_EQ(figures[0].ratio(0).value(), 2.0);
  EXPECT_FALSE(figures[0].ratio(1));
  EXPECT_DOUBLE_EQ(figures[0].ratio(2).value(), 4.0);
  EXPECT_EQ(figures[0].best_peer(), 0u);
  EXPECT_EQ(figures[1].name, "decode @128");
  EXPECT_DOUBLE_EQ(figures[1].ratio(0).value(), 2.0);
  EXPECT_DOUBLE_EQ(figures[1].ratio(2).value(), 0.25);
  EXPECT_EQ(figures[1].best_peer(), 2u);
}

TEST(Comparison, WithoutPeersHasNoBest) {
  const PeerFigures peers[] = {peer_figures("absent", {}, {})};
  for (const ComparedFigure& figure : compared_figures(our_figures(1.0, 1.0), peers))
    EXPECT_FALSE(figure.best_peer());
}

TEST(Comparison, TakesTurnsAndGoesOnWithoutAPeerThatFails) {
  const std::string good = R"(echo '{"peer": "good", "prefill": {"n_tokens": 512, "tokens_per_s": [50]},)"
                           R"( "decode": [{"depth": 128, "tokens_per_s": [25]}]}'; true)";
  const std::string bad = R"(case "$*" in *--prepare) echo '{"peer": "bad"}';; *) exit 1;; esac; true)";
  const std::string absent = R"(echo '{"peer": "absent", "unavailable": "no device"}'; true)";
  std::vector<std::string> told;
  CompareOptions options = {.task = {.model = "m.gguf", .random = "", .n_layers = 0, .bench = k_bench},
                            .peers = find_peers({good, bad, absent}).value(),
                            .n_rounds = 2,
                            .limits = {.seconds = 60.0, .interrupted = {}},
                            .on_progress = [&told](const std::string& text) { told.push_back(text); }};
  bench::BenchFigures ours;
  const auto comparison = compare(options, [] { return our_figures(100.0, 100.0); }, ours);
  ASSERT_TRUE(comparison) << comparison.error().text;
  told.erase(told.begin(), told.begin() + 3);
  EXPECT_EQ(told, (std::vector<std::string>{"round 1 of 2: ours", "round 1 of 2: good", "round 1 of 2: bad",
                                            "round 2 of 2: ours", "round 2 of 2: good"}));
  EXPECT_EQ(ours.prefill.tokens_per_s.values.size(), 2u);
  EXPECT_EQ(comparison->peers[0].answer.prefill_tokens_per_s.values.size(), 2u);
  EXPECT_TRUE(comparison->peers[0].problem.empty());
  EXPECT_TRUE(comparison->peers[1].problem.starts_with("round 1: ")) << comparison->peers[1].problem;
  EXPECT_EQ(comparison->peers[2].problem, "no device");
  EXPECT_DOUBLE_EQ(comparison->figures[1].ratio(0).value(), 4.0);
  EXPECT_TRUE(check_named_peers(*comparison, {good}));
  const auto named = check_named_peers(*comparison, {good, absent});
  ASSERT_FALSE(named);
  EXPECT_NE(named.error().text.find("was not measured: no device"), std::string::npos) << named.error().text;
  EXPECT_FALSE(check_named_peers(*comparison, {bad}));
}

}  // namespace
}  // namespace ztvm::app
