#include "engine/passes.hpp"

#include <algorithm>

#include "kernels/row_counts.hpp"

namespace ztvm::engine {

std::vector<std::uint32_t> recorded_rows(std::uint32_t max_rows, const gpu::Target& target) {
  std::vector<std::uint32_t> all = {1};
  if (max_rows > kernels::k_few_rows) all.push_back(kernels::k_few_rows);
  // Only the forms by subgroup matrices differ for so many.
  if (target.matrices && max_rows > kernels::k_some_rows) all.push_back(kernels::k_some_rows);
  if (max_rows > 1) all.push_back(max_rows);
  return all;
}

Passes::Passes(std::unique_ptr<gpu::Executor> executor, const model::Decoder& decoder,
               const model::Weights& weights, const model::Buffers& buffers)
    : executor_(std::move(executor)) {
  for (const std::uint32_t max_rows : recorded_rows(decoder.options().max_rows, decoder.options().target)) {
    model::Body body = decoder.record_body(weights, buffers, max_rows);
    bodies_.push_back({.max_rows = max_rows,
                       .id = executor_->add(std::move(body.recording)),
                       .ends = std::move(body.ends)});
  }
  head_ = executor_->add(decoder.record_head(weights, buffers));
  penalise_ = executor_->add(decoder.record_penalise(buffers));
  argmax_ = executor_->add(decoder.record_argmax(buffers));
  sample_ = executor_->add(decoder.record_sample(buffers));
  advance_ = executor_->add(decoder.record_advance(buffers));
}

const Passes::BodyId& Passes::body_for(std::uint32_t n_rows) const {
  const auto body = std::ranges::find_if(bodies_, [&](const BodyId& b) { return b.max_rows >= n_rows; });
  check(body != bodies_.end(), "a pass has no more rows than the passes were recorded for");
  return *body;
}

void Passes::body(gpu::Extent extent) { executor_->run(body_for(extent.n_rows).id, extent); }

void Passes::body_part(std::uint32_t n_rows, std::size_t end) {
  const BodyId& body = body_for(n_rows);
  executor_->run(body.id, n_rows, end == 0 ? 0 : body.ends[end - 1], body.ends[end]);
}

void Passes::body_before(std::uint32_t max_rows, std::uint32_t n_rows, std::size_t end) {
  executor_->run(body_for(max_rows).id, n_rows, 0, end);
}

void Passes::head() { executor_->run(head_, 1); }

void Passes::choose(const SamplerParams& params) {
  if (params.repeat_penalty != 1.0f) executor_->run(penalise_, 1);
  executor_->run(params.temperature > 0.0f ? sample_ : argmax_, 1);
  executor_->run(advance_, 1);
}

std::uint32_t Passes::dispatches_per_token() const {
  const auto n_ops = [this](gpu::RecordingId id) { return executor_->recording(id).ops.size(); };
  return static_cast<std::uint32_t>(n_ops(bodies_.front().id) + n_ops(head_) + n_ops(argmax_) +
                                    n_ops(advance_));
}

}  // namespace ztvm::engine
