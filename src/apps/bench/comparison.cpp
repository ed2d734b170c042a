#include "apps/bench/comparison.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace ztvm::app {
namespace {

// What a peer brings in one round joins what it brought before.
void add_round(PeerAnswer& all, PeerAnswer round) {
  if (all.prefill_tokens_per_s.values.empty()) {
    all = std::move(round);
    return;
  }
  append(all.prefill_tokens_per_s, round.prefill_tokens_per_s);
  for (std::size_t i = 0; i < all.decode_tokens_per_s.size(); ++i)
    append(all.decode_tokens_per_s[i], round.decode_tokens_per_s[i]);
}

// Round 0 prepares. Errors: of an interrupt alone.
Result<void> ask(const CompareOptions& options, std::uint32_t round, PeerFigures& peer) {
  if (!peer.problem.empty()) return {};
  const bool prepare = round == 0;
  options.on_progress(prepare ? fmt::format("{} gets ready", peer.name())
                              : fmt::format("round {} of {}: {}", round, options.n_rounds, peer.name()));
  auto answer = ask_peer(peer.command, options.task, prepare, options.limits);
  if (!answer) {
    if (answer.error().code == ErrorCode::unsupported) return forward(answer);
    peer.problem = prepare ? answer.error().text : fmt::format("round {}: {}", round, answer.error().text);
  } else if (!answer->unavailable.empty()) {
    peer.problem = answer->unavailable;
    if (peer.answer.name.empty()) peer.answer.name = answer->name;
  } else {
    add_round(peer.answer, std::move(*answer));
  }
  return {};
}

}  // namespace

std::string PeerFigures::name() const { return answer.name.empty() ? working_name(command) : answer.name; }

std::optional<double> ComparedFigure::ratio(std::size_t peer) const {
  if (peers[peer].values.empty()) return std::nullopt;
  return ours.median() / peers[peer].median();
}

std::optional<std::size_t> ComparedFigure::best_peer() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i].values.empty()) continue;
    if (!best || peers[i].median() > peers[*best].median()) best = i;
  }
  return best;
}

std::vector<ComparedFigure> compared_figures(const bench::BenchFigures& ours,
                                             std::span<const PeerFigures> peers) {
  std::vector<ComparedFigure> figures;
  figures.push_back({.name = fmt::format("prefill {}", ours.prefill.n_tokens),
                     .ours = ours.prefill.tokens_per_s,
                     .peers = {}});
  for (const PeerFigures& peer : peers) figures[0].peers.push_back(peer.answer.prefill_tokens_per_s);
  for (std::size_t i = 0; i < ours.decode.size(); ++i) {
    ComparedFigure figure = {.name = fmt::format("decode @{}", ours.decode[i].depth),
                             .ours = ours.decode[i].tokens_per_s,
                             .peers = {}};
    for (const PeerFigures& peer : peers) {
      const auto& decode = peer.answer.decode_tokens_per_s;
      figure.peers.push_back(i < decode.size() ? decode[i] : bench::Samples{});
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

Result<Comparison> compare(const CompareOptions& options,
                           const std::function<Result<bench::BenchFigures>()>& measure_ours,
                           bench::BenchFigures& ours) {
  Comparison comparison = {.n_rounds = options.n_rounds, .peers = {}, .figures = {}};
  for (const PeerCommand& command : options.peers)
    comparison.peers.push_back({.answer = {}, .command = command, .problem = {}});
  for (std::uint32_t round = 0; round <= options.n_rounds; ++round) {
    if (round != 0) {
      options.on_progress(fmt::format("round {} of {}: ours", round, options.n_rounds));
      auto figures = measure_ours();
      if (!figures) return forward(figures);
      if (round == 1) {
        ours = std::move(*figures);
      } else {
        append(ours, *figures);
      }
    }
    for (PeerFigures& peer : comparison.peers) {
      if (auto asked = ask(options, round, peer); !asked) return forward(asked);
    }
  }
  comparison.figures = compared_figures(ours, comparison.peers);
  return comparison;
}

Result<void> check_named_peers(const Comparison& comparison, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted) {
    std::error_code error;
    if (std::filesystem::is_directory(name, error)) continue;
    const auto named = find_peers({name});
    if (!named) return std::unexpected(named.error());
    for (const PeerFigures& peer : comparison.peers) {
      if (peer.problem.empty() || peer.command != named->front()) continue;
      return fail(ErrorCode::not_found, fmt::format("Peer \"{}\" was not measured: {}", name, peer.problem));
    }
  }
  return {};
}

}  // namespace ztvm::app
