#pragma once
// What is asked of a measurement, what it finds, and that as JSON: `zerotvm bench` and the bench page share the names.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/metered_device.hpp"
#include "bench/samples.hpp"
#include "engine/engine.hpp"

namespace ztvm::bench {

struct BenchOptions {
  std::uint32_t prompt_tokens = 512;
  std::uint32_t gen_tokens = 128;
  std::vector<std::uint32_t> depths = {0, 128, 2048};
  std::uint32_t repeat = 5;
};

// Tokens of context that a measurement takes.
std::uint32_t needed_context(const BenchOptions& options);

struct PrefillFigure {
  std::uint32_t n_tokens = 0;
  Samples tokens_per_s;  // the first answer token included
  Samples ttft_ms;
};

struct DecodeFigure {
  std::uint32_t depth = 0;     // tokens before the first that is generated
  Samples tokens_per_s;        // after the first token
  Samples ttft_ms;             // until the first token, nothing of the prompt cached: once a run
  Samples total_tokens_per_s;  // all tokens of the answer, over the time with ttft_ms
  std::uint64_t bytes_per_token = 0;
  HostCost host_per_token;
  std::uint64_t n_created = 0;  // buffers, pipelines and bindings made during the timed runs
  double gb_per_s() const { return tokens_per_s.median() * static_cast<double>(bytes_per_token) / 1e9; }
};

struct BenchFigures {
  std::string adapter;
  std::string driver;
  std::string kernels;                       // the kernel set
  std::map<std::string, std::string> forms;  // those that were measured, by shape (gpu/tuning.hpp)
  double stream_gb_per_s = 0.0;              // a streaming read in the same run
  PrefillFigure prefill;
  std::vector<DecodeFigure> decode;
};

// Adds the figures of another run of the same options.
void append(BenchFigures& all, const BenchFigures& more);

// A rate above what the memory gives is a fault of the measurement, never a result. Errors: device, with both numbers.
Result<void> check_roofline(const BenchFigures& figures);

Json figures_json(const BenchFigures& figures);
Json profile_json(std::span<const engine::KernelTime> times);

}  // namespace ztvm::bench
