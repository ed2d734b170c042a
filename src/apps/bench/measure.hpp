#pragma once
// Measures an engine of this process, waiting for it.
#include "bench/figures.hpp"

namespace ztvm::app {

// Errors: those of bench::Benchmark.
Result<bench::BenchFigures> measure(bench::MeteredDevice& device, engine::Engine& engine,
                                    const bench::BenchOptions& options);

// The context to open a model of this plan with again, because its default one is too small for the measurement; 0: it is
// not. `asked` is the context that was asked for, 0: none. Errors: invalid_argument when no wider one may be taken.
Result<std::uint32_t> wider_context(const bench::BenchOptions& options, std::uint32_t asked,
                                    const engine::MemoryPlan& plan);

}  // namespace ztvm::app
