#include "bench/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ztvm::bench {

Benchmark::Benchmark(MeteredDevice& device, engine::Engine& engine, BenchOptions options,
                     std::function<double()> now_ms)
    : device_(device),
      engine_(engine),
      options_(std::move(options)),
      now_ms_(now_ms),
      stream_(device, std::move(now_ms)),
      figures_{.adapter = device.caps().adapter,
               .driver = device.caps().driver,
               .kernels = {},
               .forms = {},
               .prefill = {.n_tokens = options_.prompt_tokens, .tokens_per_s = {}, .ttft_ms = {}},
               .decode = {}} {
  for (const auto& [shape, tuned] : engine.tuning()) figures_.forms[shape] = tuned.form;
  for (std::uint32_t i = 0; i <= options_.repeat; ++i) runs_.push_back({Phase::prefill, 0, i});
  for (std::size_t depth = 0; depth < options_.depths.size(); ++depth) {
    for (std::uint32_t i = 0; i <= options_.repeat; ++i) runs_.push_back({Phase::decode, depth, i});
  }
}

// Prompts of which each differs from the one before in its first token, so that no prefix is reused.
std::vector<std::uint32_t> Benchmark::next_prompt(std::uint32_t n_tokens) {
  ++prompt_number_;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < n_tokens; ++i) ids.push_back(10 + (prompt_number_ * 131 + i * 7919) % 397);
  return ids;
}

// A depth's first run takes in the prompt, as any other after the prefills: its time to the first token counts. The
// others find it in the cache, so that a great depth costs its prefill once.
Result<void> Benchmark::begin_run() {
  const bool decodes = run().phase == Phase::decode;
  if (!decodes) {
    prompt_ = next_prompt(options_.prompt_tokens);
  } else if (run().number == 0) {
    prompt_ = next_prompt(std::max(options_.depths[run().depth_index], 1u));
  }
  ids_.clear();
  until_first_.reset();
  take_cost();
  running_ = true;
  return engine_.begin_ids(
      prompt_, {.sampler = {}, .max_tokens = decodes ? options_.gen_tokens + 1 : 1, .ignore_eos = true});
}

// Where nothing waits, a step's time is the host's.
HostCost Benchmark::take_cost() {
  HostCost cost = device_.take_cost();
  const double step_ms = std::exchange(step_ms_, 0.0);
  if (step_ms > 0.0) cost.ms = step_ms;
  return cost;
}

Result<void> Benchmark::end_run() {
  running_ = false;
  const engine::Timings timings = engine_.timings();
  if ((run().phase == Phase::prefill || run().number == 0) && timings.n_reused_tokens > 0) {
    return fail(ErrorCode::device,
                fmt::format("{} of {} prompt tokens were still cached, so the measurement is wrong.",
                            timings.n_reused_tokens, prompt_.size()));
  }
  auto ended = run().phase == Phase::prefill ? end_prefill(timings) : end_decode(timings);
  ++n_done_;
  return ended;
}

Result<void> Benchmark::end_prefill(const engine::Timings& timings) {
  if (run().number == 0) return {};
  figures_.prefill.ttft_ms.values.push_back(timings.prefill_ms);
  figures_.prefill.tokens_per_s.values.push_back(1000.0 * options_.prompt_tokens / timings.prefill_ms);
  return {};
}

Result<void> Benchmark::end_decode(const engine::Timings& timings) {
  const std::uint32_t n_gen = options_.gen_tokens;
  if (run().number == 0) {
    DecodeFigure& figure = figures_.decode.emplace_back();
    figure.depth = options_.depths[run().depth_index];
    figure.ttft_ms.values.push_back(timings.prefill_ms);
    const auto plan = engine_.memory_plan();
    const std::uint64_t mean_position = prompt_.size() + n_gen / 2;
    figure.bytes_per_token =
        plan->decode_weights_bytes + plan->kv_cache_bytes / plan->context * mean_position;
    return {};
  }
  DecodeFigure& figure = figures_.decode.back();
  HostCost cost = take_cost();
  figure.n_created += cost.n_created + until_first_->n_created;
  // All passes are single tokens once the first is known; a hybrid takes up to 16 of the prompt in again before. Of a few
  // tokens all may have been under way by then.
  if (cost.n_reads == 0) cost = *until_first_;
  const std::uint64_t n_passes = std::max<std::uint64_t>(cost.n_reads, 1);
  figure.host_per_token = {.n_submits = cost.n_submits / n_passes,
                           .n_reads = 1,
                           .n_dispatches = cost.n_dispatches / n_passes,
                           .ms = cost.ms / static_cast<double>(n_passes)};
  figure.tokens_per_s.values.push_back(1000.0 * n_gen / timings.decode_ms);
  figure.total_tokens_per_s.values.push_back(1000.0 * (n_gen + 1) /
                                             (figure.ttft_ms.values.front() + timings.decode_ms));
  return check_ids();
}

// The timed runs are the same passes over the same bytes.
Result<void> Benchmark::check_ids() {
  if (run().number == 1) expected_ids_ = ids_;
  const auto [got, expected] = std::ranges::mismatch(ids_, expected_ids_);
  if (got == ids_.end() && expected == expected_ids_.end()) return {};
  return fail(ErrorCode::device,
              fmt::format("Run {} at depth {} differs from the first in token {} of {}, so that the engine "
                          "computes wrong results.",
                          run().number, options_.depths[run().depth_index], got - ids_.begin(),
                          expected_ids_.size()));
}

Result<bool> Benchmark::step(bool wait) {
  if (!streamed_) {
    auto streamed = stream_.step(wait);
    if (!streamed) return forward(streamed);
    streamed_ = *streamed;
    figures_.stream_gb_per_s = stream_.bytes_per_s() / 1e9;
    return false;
  }
  const double start = now_ms_();
  if (!running_) {
    if (auto begun = begin_run(); !begun) return forward(begun);
  }
  auto event = engine_.step(wait);
  if (!event) return forward(event);
  if (!wait) step_ms_ += now_ms_() - start;
  if (!until_first_ && !event->ids.empty()) until_first_ = take_cost();
  ids_.insert(ids_.end(), event->ids.begin(), event->ids.end());
  const double of_run = static_cast<double>(ids_.size()) / (options_.gen_tokens + 1);
  progress_ = {
      .phase = run().phase,
      .depth_index = run().depth_index,
      .run = run().number,
      .part = (static_cast<double>(n_done_) + std::min(of_run, 1.0)) / static_cast<double>(runs_.size())};
  if (event->finish == engine::FinishReason::none) return false;
  if (auto ended = end_run(); !ended) return forward(ended);
  return n_done_ == runs_.size();
}

}  // namespace ztvm::bench
