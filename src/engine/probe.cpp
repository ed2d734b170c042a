#include "engine/probe.hpp"

#include <algorithm>

#include "engine/rows.hpp"

namespace ztvm::engine {
namespace {

Result<void> run_chunk(gpu::Device& device, Passes& passes, const model::State& state, std::uint32_t dim,
                       std::uint32_t n_rows, const HiddenSink& sink) {
  if (!sink) {
    passes.body(n_rows);
    return passes.flush();
  }
  for (std::size_t layer = 0; layer < passes.n_layer_ends(); ++layer) {
    passes.body_part(n_rows, layer);
    if (auto flushed = passes.flush(); !flushed) return flushed;
    auto rows = gpu::read_now(device, state.x.buffer, 0, std::uint64_t{n_rows} * dim * sizeof(float));
    if (!rows) return forward(rows);
    if (auto taken = sink(layer, *rows); !taken) return taken;
  }
  return {};
}

Result<std::vector<float>> read_logits(gpu::Device& device, const model::State& state, std::uint32_t n) {
  auto bytes = gpu::read_now(device, state.logits.buffer, 0, std::uint64_t{n} * sizeof(float));
  if (!bytes) return forward(bytes);
  std::vector<float> logits(n);
  std::memcpy(logits.data(), bytes->data(), bytes->size());
  return logits;
}

}  // namespace

Result<std::vector<float>> probe(gpu::Device& device, Passes& passes, const model::State& state,
                                 const model::ModelSpec& spec, std::span<const std::uint32_t> ids,
                                 const HiddenSink& sink) {
  for (std::size_t first = 0; first < ids.size();) {
    const std::size_t n_rows = std::min<std::size_t>(passes.max_rows(), ids.size() - first);
    write_rows(device, state, {.position = static_cast<std::uint32_t>(first)}, ids.subspan(first, n_rows));
    if (auto run = run_chunk(device, passes, state, spec.dim, static_cast<std::uint32_t>(n_rows), sink);
        !run) {
      return forward(run);
    }
    first += n_rows;
  }
  passes.head();
  if (auto flushed = passes.flush(); !flushed) return forward(flushed);
  return read_logits(device, state, spec.vocab);
}

Result<void> score(gpu::Device& device, Passes& passes, const model::State& state,
                   const model::ModelSpec& spec, const Scored& scored, const LogitsSink& sink) {
  const std::size_t max_rows = std::min(scored.max_rows, passes.max_rows());
  for (std::size_t first = 0; first < scored.ids.size(); first += max_rows) {
    const auto rows = scored.ids.subspan(first, std::min(max_rows, scored.ids.size() - first));
    const kernels::Step step = {.position = static_cast<std::uint32_t>(first)};
    write_rows(device, state, step, rows);
    passes.body(static_cast<std::uint32_t>(rows.size()));
    if (auto flushed = passes.flush(); !flushed) return flushed;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      // The residual stream has all rows; the head takes the last one that the step tells of.
      write_rows(device, state, step, rows.first(row + 1));
      passes.head();
      if (auto flushed = passes.flush(); !flushed) return flushed;
      auto logits = read_logits(device, state, spec.n_valid_ids);
      if (!logits) return forward(logits);
      if (auto taken = sink(first + row, *logits); !taken) return taken;
    }
  }
  return {};
}

}  // namespace ztvm::engine
