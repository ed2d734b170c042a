#pragma once
// Measures an engine: prefill, decode at several depths, and a streaming read on the same device for comparison.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/metered_device.hpp"
#include "engine/engine.hpp"

namespace ztvm::app {

struct BenchOptions {
  std::uint32_t prompt_tokens = 512;
  std::uint32_t gen_tokens = 128;
  std::vector<std::uint32_t> depths = {0, 128, 2048};
  std::uint32_t repeat = 5;
};

// Repeated measurements of one figure.
struct Samples {
  std::vector<double> values;
  double median() const;
  double spread() const;  // (largest - smallest) / median
};

// Adds the values of `more` behind those of `all`.
void append(Samples& all, const Samples& more);

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
  double gb_per_s() const { return tokens_per_s.median() * static_cast<double>(bytes_per_token) / 1e9; }
};

struct BenchFigures {
  std::string adapter;
  std::string driver;
  std::string kernels;           // the kernel set
  double stream_gb_per_s = 0.0;  // a streaming read in the same run
  PrefillFigure prefill;
  std::vector<DecodeFigure> decode;
};

// Adds the figures of another run of the same options.
void append(BenchFigures& all, const BenchFigures& more);

// Errors: of the device; a context that is too short for a depth.
Result<BenchFigures> measure(MeteredDevice& device, engine::Engine& engine, const BenchOptions& options);

// Bytes per second of a streaming read of a large buffer, the best of several.
Result<double> measure_stream(gpu::Device& device);

}  // namespace ztvm::app
