#include "apps/bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/clock.hpp"
#include "gpu/executor.hpp"
#include "kernels/stream_read/stream_read.hpp"

namespace ztvm::app {
namespace {

// Prompts of which each differs from the one before in its first token, so that no prefix is reused.
class Prompts {
 public:
  std::vector<std::uint32_t> next(std::uint32_t n_tokens) {
    ++number_;
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i < n_tokens; ++i) ids.push_back(10 + (number_ * 131 + i * 7919) % 397);
    return ids;
  }

 private:
  std::uint32_t number_ = 0;
};

Result<engine::Timings> run(engine::Engine& engine, const std::vector<std::uint32_t>& ids,
                            std::uint32_t n_tokens) {
  auto begun = engine.begin_ids(ids, {.sampler = {}, .max_tokens = n_tokens, .ignore_eos = true});
  if (!begun) return forward(begun);
  while (true) {
    auto event = engine.step(true);
    if (!event) return forward(event);
    if (event->finish != engine::FinishReason::none) return engine.timings();
  }
}

// As run(), with nothing of the prompt in the cache.
Result<engine::Timings> run_uncached(engine::Engine& engine, const std::vector<std::uint32_t>& ids,
                                     std::uint32_t n_tokens) {
  auto timings = run(engine, ids, n_tokens);
  if (!timings || timings->n_reused_tokens == 0) return timings;
  return fail(ErrorCode::device,
              fmt::format("{} of {} prompt tokens were still cached, so the measurement is wrong.",
                          timings->n_reused_tokens, ids.size()));
}

Result<PrefillFigure> measure_prefill(engine::Engine& engine, Prompts& prompts, const BenchOptions& options) {
  PrefillFigure figure = {.n_tokens = options.prompt_tokens, .tokens_per_s = {}, .ttft_ms = {}};
  // One more, which warms up.
  for (std::uint32_t i = 0; i <= options.repeat; ++i) {
    auto timings = run_uncached(engine, prompts.next(options.prompt_tokens), 1);
    if (!timings) return forward(timings);
    if (i == 0) continue;
    figure.ttft_ms.values.push_back(timings->prefill_ms);
    figure.tokens_per_s.values.push_back(1000.0 * options.prompt_tokens / timings->prefill_ms);
  }
  return figure;
}

// The first run takes in the prompt, as any other after measure_prefill(): its time to the first token counts. The others
// find it in the cache, so that a great depth costs its prefill once.
Result<DecodeFigure> measure_decode(MeteredDevice& device, engine::Engine& engine,
                                    const std::vector<std::uint32_t>& prompt, const BenchOptions& options) {
  DecodeFigure figure;
  auto first = run_uncached(engine, prompt, options.gen_tokens + 1);
  if (!first) return forward(first);
  figure.ttft_ms.values.push_back(first->prefill_ms);
  for (std::uint32_t i = 0; i < options.repeat; ++i) {
    device.take_cost();
    auto timings = run(engine, prompt, options.gen_tokens + 1);
    if (!timings) return forward(timings);
    // All its passes are single tokens.
    const HostCost cost = device.take_cost();
    const std::uint64_t n_passes = options.gen_tokens + 1;
    figure.host_per_token = {.n_submits = cost.n_submits / n_passes,
                             .n_dispatches = cost.n_dispatches / n_passes,
                             .ms = cost.ms / static_cast<double>(n_passes)};
    figure.tokens_per_s.values.push_back(1000.0 * options.gen_tokens / timings->decode_ms);
    figure.total_tokens_per_s.values.push_back(1000.0 * (options.gen_tokens + 1) /
                                               (first->prefill_ms + timings->decode_ms));
  }
  const auto plan = engine.memory_plan();
  const std::uint64_t mean_position = prompt.size() + options.gen_tokens / 2;
  figure.bytes_per_token = plan->decode_weights_bytes + plan->kv_cache_bytes / plan->context * mean_position;
  return figure;
}

}  // namespace

double Samples::median() const {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0;
}

double Samples::spread() const {
  const auto [low, high] = std::ranges::minmax(values);
  return (high - low) / median();
}

void append(Samples& all, const Samples& more) {
  all.values.insert(all.values.end(), more.values.begin(), more.values.end());
}

void append(BenchFigures& all, const BenchFigures& more) {
  all.stream_gb_per_s = std::max(all.stream_gb_per_s, more.stream_gb_per_s);
  append(all.prefill.tokens_per_s, more.prefill.tokens_per_s);
  append(all.prefill.ttft_ms, more.prefill.ttft_ms);
  for (std::size_t i = 0; i < all.decode.size(); ++i) {
    append(all.decode[i].tokens_per_s, more.decode[i].tokens_per_s);
    append(all.decode[i].ttft_ms, more.decode[i].ttft_ms);
    append(all.decode[i].total_tokens_per_s, more.decode[i].total_tokens_per_s);
  }
}

Result<double> measure_stream(gpu::Device& device) {
  const gpu::Target target = gpu::choose_target(device.caps());
  const std::uint64_t wanted = target.cpu ? 64ull << 20 : 1ull << 30;
  const std::uint64_t n_bytes =
      std::min({wanted, device.caps().max_binding_bytes, device.caps().max_buffer_bytes});
  const std::uint32_t n_workgroups = target.cpu ? 64 : 4096;
  auto data = gpu::make_buffer(device, n_bytes, "stream");
  if (!data) return forward(data);
  auto out = gpu::make_buffer(device, std::uint64_t{n_workgroups} * kernels::k_stream_workgroup * 4,
                              "stream result");
  if (!out) return forward(out);
  gpu::Recording recording = {.target = target, .limits = {}, .max_rows = 1, .ops = {}};
  kernels::stream_read(recording, "stream",
                       {.n_quads = narrow<std::uint32_t>(n_bytes / 16),
                        .n_workgroups = n_workgroups,
                        .data = {.buffer = data->id(), .dtype = gpu::Dtype::u32},
                        .out = {.buffer = out->id(), .dtype = gpu::Dtype::u32}});
  const auto executor = gpu::make_gpu_executor(device);
  const gpu::RecordingId id = executor->add(std::move(recording));
  const int n_runs = target.cpu ? 2 : 20;
  double best = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double start = now_ms();
    for (int run = 0; run < n_runs; ++run) executor->run(id, 1);
    if (auto flushed = executor->flush(); !flushed) return forward(flushed);
    if (auto read = gpu::read_now(device, out->id(), 0, 4); !read) return forward(read);
    const double seconds = (now_ms() - start) / 1000.0;
    if (i > 0) best = std::max(best, static_cast<double>(n_bytes) * n_runs / seconds);
  }
  return best;
}

Result<BenchFigures> measure(MeteredDevice& device, engine::Engine& engine, const BenchOptions& options) {
  BenchFigures figures = {.adapter = device.caps().adapter,
                          .driver = device.caps().driver,
                          .kernels = {},
                          .prefill = {},
                          .decode = {}};
  auto stream = measure_stream(device);
  if (!stream) return forward(stream);
  figures.stream_gb_per_s = *stream / 1e9;
  Prompts prompts;
  auto prefill = measure_prefill(engine, prompts, options);
  if (!prefill) return forward(prefill);
  figures.prefill = std::move(*prefill);
  for (const std::uint32_t depth : options.depths) {
    auto decode = measure_decode(device, engine, prompts.next(std::max(depth, 1u)), options);
    if (!decode) return forward(decode);
    decode->depth = depth;
    figures.decode.push_back(std::move(*decode));
  }
  return figures;
}

}  // namespace ztvm::app
