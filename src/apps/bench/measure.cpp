#include "apps/bench/measure.hpp"

#include <fmt/format.h>

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

Result<std::uint32_t> wider_context(const bench::BenchOptions& options, std::uint32_t asked,
                                    const engine::MemoryPlan& plan) {
  const std::uint32_t needed = bench::needed_context(options);
  if (needed <= plan.context) return 0u;
  if (asked == 0 && needed <= plan.max_context) return needed;
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("--depth, --prompt-tokens and --gen-tokens need a context of {} tokens, but it holds "
                  "{}; --context can ask for {} at most.",
                  needed, plan.context, plan.max_context));
}

}  // namespace ztvm::app
