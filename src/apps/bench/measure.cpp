#include "apps/bench/measure.hpp"

#include "apps/clock.hpp"
#include "bench/benchmark.hpp"

namespace ztvm::app {

Result<bench::BenchFigures> measure(bench::MeteredDevice& device, engine::Engine& engine,
                                    const bench::BenchOptions& options) {
  bench::Benchmark benchmark(device, engine, options, now_ms);
  while (true) {
    auto done = benchmark.step(true);
    if (!done) return forward(done);
    if (*done) return benchmark.figures();
  }
}

}  // namespace ztvm::app
