#pragma once
// Other engines that are measured beside ours: programs that take what to measure and print a JSON object, which
// bench/peers/llama_bench.py describes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/child_process.hpp"
#include "bench/figures.hpp"

namespace ztvm::app {

// A program, and arguments that go before those of the measurement.
using PeerCommand = std::vector<std::string>;

// The peers that `wanted` names, in its order: a folder stands for its files peer_*.py, a .py file for itself, anything
// else is a command line for the shell. With nothing wanted: bench/peers of the source tree that the program was built
// in, or of the current folder. Errors: not_found for a folder without peers.
Result<std::vector<PeerCommand>> find_peers(const std::vector<std::string>& wanted);

// What a peer is called until it answers: its script, or its command line.
std::string working_name(const PeerCommand& peer);

// What a peer is to measure.
struct PeerTask {
  std::string model;   // path; empty: `random`
  std::string random;  // alias of a shape
  std::uint32_t n_layers = 0;
  bench::BenchOptions bench;
};

// `prepare` asks whether it can run at all, and lets it write what it needs.
PeerCommand command_line(const PeerCommand& peer, const PeerTask& task, bool prepare);

struct PeerAnswer {
  std::string name;
  std::string unavailable;  // why it cannot run here; empty: it can
  std::string device;
  std::string version;
  std::string command;  // that it ran itself
  bench::Samples prefill_tokens_per_s;
  std::vector<bench::Samples> decode_tokens_per_s;  // one a depth
};

// Reads a peer's stdout. After preparing there are no figures. Errors: corrupt_file for anything but the object that is
// described, or for figures of another task than `bench`.
Result<PeerAnswer> parse_peer_answer(std::string_view text, const bench::BenchOptions& bench, bool prepare);

// Runs a peer and reads its answer. Errors: io for one that fails or is stopped at the limit, with its command and its
// last lines of stderr; unsupported when interrupted; those of parse_peer_answer().
Result<PeerAnswer> ask_peer(const PeerCommand& peer, const PeerTask& task, bool prepare,
                            const ChildLimits& limits);

}  // namespace ztvm::app
