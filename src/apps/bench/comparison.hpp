#pragma once
// Our figures beside those of peers, taken in turn in one run: ours, each peer, ours, each peer, ...
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/peer.hpp"
#include "bench/figures.hpp"

namespace ztvm::app {

// One peer, with the figures of all its rounds.
struct PeerFigures {
  PeerAnswer answer;    // without a name when it never answered
  PeerCommand command;  // that starts it
  std::string problem;  // why it was not measured, or not in every round; empty: it was
  std::string name() const;
  bool has_figures() const { return !answer.prefill_tokens_per_s.values.empty(); }
};

// Tokens per second of one thing: prefill, or decode at a depth.
struct ComparedFigure {
  std::string name;
  bench::Samples ours;
  std::vector<bench::Samples> peers;  // in the order of Comparison::peers; empty where one has none
  std::optional<double> ratio(std::size_t peer) const;  // ours / the peer's, of medians
  std::optional<std::size_t> best_peer() const;
};

struct Comparison {
  std::uint32_t n_rounds = 0;
  std::vector<PeerFigures> peers;
  std::vector<ComparedFigure> figures;
};

struct CompareOptions {
  PeerTask task;
  std::vector<PeerCommand> peers;
  std::uint32_t n_rounds = 3;
  ChildLimits limits;
  std::function<void(const std::string&)> on_progress;  // told what runs now
};

// Measures in turn. `measure_ours` takes one round's figures; `ours` gets those of all rounds. A peer that fails is not
// asked again, and the comparison goes on without it. Errors: of our own measurement; unsupported when interrupted.
Result<Comparison> compare(const CompareOptions& options,
                           const std::function<Result<bench::BenchFigures>()>& measure_ours,
                           bench::BenchFigures& ours);

std::vector<ComparedFigure> compared_figures(const bench::BenchFigures& ours,
                                             std::span<const PeerFigures> peers);

// Of peers that a folder holds, any may be missing on this machine; one that is named itself was meant. Errors: not_found,
// naming the first such peer that was not measured in every round, and why. `wanted` as for find_peers().
Result<void> check_named_peers(const Comparison& comparison, const std::vector<std::string>& wanted);

}  // namespace ztvm::app
