#pragma once
// Times how a model's weights get from its files onto the device, beside a plain read of the same files.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/loaded_model.hpp"
#include "bench/figures.hpp"

namespace ztvm::app {

// Loads and plain reads, taken in turn.
struct LoadPasses {
  double cached_share = 0.0;  // of the files before each pass, the largest of all
  bench::Samples
      load_bytes_per_s;  // of what the weights take in the files; headers, tokenizer and pipelines not counted
  bench::Samples plain_bytes_per_s;  // pread in pieces of 4 MiB from start to end, bytes dropped
  double ratio() const { return load_bytes_per_s.median() / plain_bytes_per_s.median(); }
};

struct LoadFigures {
  std::string adapter;
  std::uint64_t n_file_bytes = 0;    // of the files that hold the weights
  std::uint64_t n_weight_bytes = 0;  // that a load reads of them
  std::uint64_t n_reads = 0;         // of one load
  double headers_ms = 0.0;           // from the first range to the memory plan: configs, tokenizer, buffers
  LoadPasses cold;                   // the system was asked to forget the files
  LoadPasses warm;
  // The most memory resident during the first load, and what of it the adapter's buffers for weights take when they lie
  // in host memory; caches and scratch buffers count as the host's.
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_weights_bytes = 0;
  std::uint64_t peak_host_bytes() const { return peak_bytes - std::min(peak_bytes, peak_weights_bytes); }
};

// Errors: of the files, the format, the device.
Result<LoadFigures> measure_load(const ModelOptions& options, std::uint32_t repeat);

}  // namespace ztvm::app
