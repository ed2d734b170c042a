#include "engine/probe.hpp"

#include <algorithm>

#include "engine/rows.hpp"

namespace ztvm::engine {
namespace {

Result<std::vector<float>> read_logits(gpu::Device& device, const model::State& state, std::uint32_t n) {
  auto bytes = gpu::read_now(device, state.logits.buffer, 0, std::uint64_t{n} * sizeof(float));
  if (!bytes) return forward(bytes);
  std::vector<float> logits(n);
  std::memcpy(logits.data(), bytes->data(), bytes->size());
  return logits;
}

}  // namespace

Probe::Probe(gpu::Device& device, Passes& passes, const model::State& state, const model::ModelSpec& spec,
             std::span<const std::uint32_t> ids, ProbeSinks sinks)
    : device_(device),
      passes_(passes),
      state_(state),
      spec_(spec),
      ids_(ids.begin(), ids.end()),
      sinks_(std::move(sinks)) {}

Result<bool> Probe::step(bool wait) {
  Result<void> status;
  if (!reading_) status = submit_next();
  if (status) status = device_.poll(wait && reading_);
  if (status) status = std::move(status_);
  if (!status) {
    over_ = true;
    return forward(status);
  }
  return over_;
}

// Runs to the next values that a sink takes.
Result<void> Probe::submit_next() {
  while (first_ < ids_.size()) {
    if (layer_ == 0) {
      n_rows_ = std::min<std::size_t>(passes_.max_rows(), ids_.size() - first_);
      write_rows(device_, state_, {.position = static_cast<std::uint32_t>(first_)},
                 std::span(ids_).subspan(first_, n_rows_));
    }
    if (sinks_.hidden) {
      passes_.body_part(static_cast<std::uint32_t>(n_rows_), layer_);
      if (auto flushed = passes_.flush(); !flushed) return flushed;
      read(state_.x, std::uint64_t{n_rows_} * spec_.dim);
      return {};
    }
    passes_.body(static_cast<std::uint32_t>(n_rows_));
    if (auto flushed = passes_.flush(); !flushed) return flushed;
    first_ += n_rows_;
  }
  passes_.head();
  if (auto flushed = passes_.flush(); !flushed) return flushed;
  read(state_.logits, spec_.vocab);
  return {};
}

void Probe::read(const gpu::Tensor& tensor, std::uint64_t n_values) {
  reading_ = true;
  device_.read(tensor.buffer, 0, n_values * sizeof(float), [this](Result<Bytes> bytes) {
    reading_ = false;
    status_ = bytes ? take(*bytes) : Result<void>(forward(bytes));
  });
}

Result<void> Probe::take(Bytes bytes) {
  if (first_ < ids_.size()) {
    if (auto taken = sinks_.hidden(layer_, bytes); !taken) return taken;
    if (++layer_ < passes_.n_layer_ends()) return {};
    layer_ = 0;
    first_ += n_rows_;
    return {};
  }
  over_ = true;
  std::vector<float> logits(spec_.vocab);
  std::memcpy(logits.data(), bytes.data(), bytes.size());
  return sinks_.logits(logits);
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
