#pragma once
// Measures an engine of this process, waiting for it.
#include "bench/figures.hpp"

namespace ztvm::app {

// Errors: those of bench::Benchmark.
Result<bench::BenchFigures> measure(bench::MeteredDevice& device, engine::Engine& engine,
                                    const bench::BenchOptions& options);

}  // namespace ztvm::app
