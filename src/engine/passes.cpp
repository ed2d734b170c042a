#include "engine/passes.hpp"

namespace ztvm::engine {

Passes::Passes(std::unique_ptr<gpu::Executor> executor, const model::Decoder& decoder,
               const model::Weights& weights, const model::Buffers& buffers)
    : executor_(std::move(executor)), max_rows_(decoder.options().max_rows) {
  single_ = add(decoder.record_body(weights, buffers, 1));
  chunk_ = add(decoder.record_body(weights, buffers, max_rows_));
  few_ = max_rows_ > k_few_rows ? add(decoder.record_body(weights, buffers, k_few_rows)) : chunk_;
  head_ = executor_->add(decoder.record_head(weights, buffers));
  penalise_ = executor_->add(decoder.record_penalise(buffers));
  argmax_ = executor_->add(decoder.record_argmax(buffers));
  sample_ = executor_->add(decoder.record_sample(buffers));
  advance_ = executor_->add(decoder.record_advance(buffers));
}

Passes::BodyId Passes::add(model::Body body) {
  return {.id = executor_->add(std::move(body.recording)), .ends = std::move(body.ends)};
}

void Passes::body(std::uint32_t n_rows) { executor_->run(body_for(n_rows).id, n_rows); }

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
  return static_cast<std::uint32_t>(n_ops(single_.id) + n_ops(head_) + n_ops(argmax_) + n_ops(advance_));
}

}  // namespace ztvm::engine
