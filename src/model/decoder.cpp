#include "model/decoder.hpp"

#include <algorithm>

#include "kernels/advance/advance.hpp"
#include "kernels/argmax/argmax.hpp"
#include "kernels/attention_shape.hpp"
#include "kernels/embed/embed.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/penalise/penalise.hpp"
#include "kernels/sample/sample.hpp"

namespace ztvm::model {

std::uint32_t Decoder::n_pages() const { return div_up(options_.context, kernels::k_page_slots); }

Decoder Decoder::plan(const ModelSpec& spec, ModelWeights weights, const DecoderOptions& options,
                      Buffers& buffers) {
  using gpu::Dtype;
  Decoder decoder;
  decoder.spec_ = spec;
  decoder.weights_ = std::move(weights);
  decoder.options_ = options;
  StatePlan& state = decoder.state_;
  state.step = buffers.plan("step", BufferRole::state, sizeof(kernels::Step));
  state.tokens = buffers.plan_elements("tokens", BufferRole::state, Dtype::u32, options.max_rows);
  state.pages = buffers.plan_elements("page table", BufferRole::state, Dtype::u32, decoder.n_pages());
  state.seen = buffers.plan_elements("seen tokens", BufferRole::state, Dtype::u32, spec.vocab);
  // A model without attention has no angles; the buffer is bound nowhere, but exists.
  state.rope = buffers.plan_elements("rope table", BufferRole::state, Dtype::f32,
                                     std::uint64_t{options.context} * std::max(spec.n_rotated(), 2u));
  decoder.layers_ =
      LayerStatePlan::make(spec, kv_dtype(options.kv, options.target), decoder.n_pages(), buffers);
  decoder.scratch_ = ScratchPlan::make(spec, options.target, options.context, options.max_rows, buffers);
  return decoder;
}

gpu::Recording Decoder::empty_recording(std::uint32_t max_rows) const {
  return {.target = options_.target,
          .limits = options_.limits,
          .max_rows = max_rows,
          .ops = {},
          .tuning = tuning_};
}

Body Decoder::record_body(const Weights& weights, const Buffers& buffers, std::uint32_t max_rows) const {
  Body body = {.recording = empty_recording(max_rows), .ends = {}};
  const State shared = state(buffers);
  const Scratch scratch = scratch_.bind(buffers);
  const std::vector<LayerState> layer_states = layers_.bind(buffers);
  kernels::embed(body.recording, {.table = weights.matrix(weights_.embedding),
                                  .step = shared.step,
                                  .tokens = shared.tokens,
                                  .out = scratch.x});
  body.ends.push_back(body.recording.ops.size());
  for (std::uint32_t i = 0; i < spec_.layers.size(); ++i) {
    const LayerContext context = {.recording = body.recording,
                                  .layer = i,
                                  .spec = spec_,
                                  .weights = weights,
                                  .scratch = scratch,
                                  .step = shared.step,
                                  .pages = shared.pages,
                                  .rope = shared.rope,
                                  .context = options_.context};
    record_layer(context, weights_.layers[i], layer_states[i]);
    body.ends.push_back(body.recording.ops.size());
  }
  return body;
}

gpu::Recording Decoder::record_head(const Weights& weights, const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const State shared = state(buffers);
  const gpu::Tensor last = scratch_.bind(buffers).last;
  kernels::matmul(recording, "head",
                  {.weights = weights.matrix(weights_.head),
                   .epilogue = kernels::Epilogue::store_f32,
                   .rows = kernels::Rows::last,
                   .norm = kernels::InputNorm{.name = "final norm",
                                              .weight = weights.vector(weights_.final_norm),
                                              .eps = spec_.rms_eps,
                                              .normed = last},
                   .step = shared.step,
                   .x = shared.x,
                   .out = shared.logits});
  return recording;
}

gpu::Recording Decoder::record_penalise(const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const State shared = state(buffers);
  kernels::penalise(
      recording,
      {.n_valid = spec_.n_valid_ids, .step = shared.step, .seen = shared.seen, .logits = shared.logits});
  return recording;
}

gpu::Recording Decoder::record_argmax(const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const Scratch scratch = scratch_.bind(buffers);
  kernels::argmax(recording, {.n_valid = spec_.n_valid_ids,
                              .logits = scratch.logits,
                              .candidates = scratch.candidates,
                              .step = buffers.tensor(state_.step, gpu::Dtype::u32)});
  return recording;
}

gpu::Recording Decoder::record_sample(const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const Scratch scratch = scratch_.bind(buffers);
  kernels::sample(recording, {.n_valid = spec_.n_valid_ids,
                              .logits = scratch.logits,
                              .maxima = scratch.maxima,
                              .bounds = scratch.bounds,
                              .weights = scratch.weights,
                              .indices = scratch.indices,
                              .counts = scratch.counts,
                              .masses = scratch.masses,
                              .step = buffers.tensor(state_.step, gpu::Dtype::u32)});
  return recording;
}

gpu::Recording Decoder::record_advance(const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const State shared = state(buffers);
  kernels::advance(recording, {.step = shared.step, .tokens = shared.tokens, .seen = shared.seen});
  return recording;
}

State Decoder::state(const Buffers& buffers) const {
  const Scratch scratch = scratch_.bind(buffers);
  return {.step = buffers.tensor(state_.step, gpu::Dtype::u32),
          .tokens = buffers.tensor(state_.tokens, gpu::Dtype::u32),
          .pages = buffers.tensor(state_.pages, gpu::Dtype::u32),
          .seen = buffers.tensor(state_.seen, gpu::Dtype::u32),
          .rope = buffers.tensor(state_.rope, gpu::Dtype::f32),
          .x = scratch.x,
          .logits = scratch.logits,
          .recurrent = layers_.recurrent(buffers)};
}

}  // namespace ztvm::model
