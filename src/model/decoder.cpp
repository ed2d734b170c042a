#include "model/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/advance/advance.hpp"
#include "kernels/argmax/argmax.hpp"
#include "kernels/attention_shape.hpp"
#include "kernels/embed/embed.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/penalise/penalise.hpp"
#include "kernels/rms_norm/rms_norm.hpp"
#include "kernels/sample/sample.hpp"
#include "model/blocks/attention.hpp"
#include "model/blocks/mlp.hpp"

namespace ztvm::model {
namespace {

// The widest of each activation over all layers, so that one scratch buffer serves all.
struct Widths {
  std::uint32_t qkv = 0;
  std::uint32_t q = 0;
  std::uint32_t ffn = 0;
  std::uint32_t n_rotated = 0;
};

Widths widths_of(const ModelSpec& spec) {
  Widths widths;
  for (const LayerSpec& layer : spec.layers) {
    const auto& attention = std::get<AttentionSpec>(layer.mixer);
    const std::uint32_t n_heads = attention.n_heads + 2 * attention.n_kv_heads;
    widths.qkv = std::max(widths.qkv, n_heads * attention.head_dim);
    widths.q = std::max(widths.q, attention.n_heads * attention.head_dim);
    widths.n_rotated = std::max(widths.n_rotated, attention.n_rotated);
    widths.ffn = std::max(widths.ffn, std::get<MlpSpec>(layer.ffn).ffn_dim);
  }
  return widths;
}

}  // namespace

std::uint32_t Decoder::n_pages() const { return div_up(options_.context, kernels::k_page_slots); }

Decoder Decoder::plan(const ModelSpec& spec, const DecoderOptions& options, Buffers& buffers) {
  using gpu::Dtype;
  Decoder decoder;
  decoder.spec_ = spec;
  decoder.options_ = options;
  const Dtype activation = decoder.activation();
  const Widths widths = widths_of(spec);
  // Tiles of rows read whole tiles, so scratch is rounded up to one.
  const std::uint64_t rows = round_up(options.max_rows, kernels::matmul_tile(options.max_rows));

  StatePlan& state = decoder.state_;
  state.step = buffers.plan("step", BufferRole::state, sizeof(kernels::Step));
  state.tokens = buffers.plan_elements("tokens", BufferRole::state, Dtype::u32, options.max_rows);
  state.pages = buffers.plan_elements("page table", BufferRole::state, Dtype::u32, decoder.n_pages());
  state.seen = buffers.plan_elements("seen tokens", BufferRole::state, Dtype::u32, spec.vocab);
  state.rope = buffers.plan_elements("rope table", BufferRole::state, Dtype::f32,
                                     std::uint64_t{options.context} * widths.n_rotated);
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const auto& attention = std::get<AttentionSpec>(spec.layers[i].mixer);
    const std::uint64_t elements = kernels::cache_elements(
        {.n_heads = attention.n_heads, .n_kv_heads = attention.n_kv_heads, .head_dim = attention.head_dim},
        decoder.n_pages());
    const auto label = [i](std::string_view what) { return fmt::format("layer {} {}", i, what); };
    state.keys.push_back(buffers.plan_elements(label("keys"), BufferRole::kv_cache, activation, elements));
    state.values.push_back(
        buffers.plan_elements(label("values"), BufferRole::kv_cache, activation, elements));
  }

  ScratchPlan& scratch = decoder.scratch_;
  const auto plan_rows = [&](std::string_view label, Dtype dtype, std::uint32_t width) {
    return buffers.plan_elements(std::string(label), BufferRole::scratch, dtype, rows * width);
  };
  scratch.x = plan_rows("residual stream", Dtype::f32, spec.dim);
  scratch.normed = plan_rows("normed", activation, spec.dim);
  scratch.qkv = plan_rows("qkv", activation, widths.qkv);
  scratch.q = plan_rows("rotated q", activation, widths.q);
  scratch.mixed = plan_rows("attention result", activation, widths.q);
  scratch.hidden = plan_rows("feed-forward hidden", activation, widths.ffn);
  scratch.last = buffers.plan_elements("normed last row", BufferRole::scratch, activation, spec.dim);
  scratch.logits = buffers.plan_elements("logits", BufferRole::scratch, Dtype::f32, spec.vocab);
  scratch.candidates = buffers.plan_elements("candidates", BufferRole::scratch, Dtype::u32,
                                             4ull * div_up(spec.n_valid_ids, kernels::k_argmax_block));
  const kernels::SampleSizes sizes = kernels::sample_sizes(spec.n_valid_ids);
  scratch.maxima = buffers.plan_elements("sampler maxima", BufferRole::scratch, Dtype::u32, sizes.maxima);
  scratch.bounds = buffers.plan_elements("sampler bounds", BufferRole::scratch, Dtype::f32, 2);
  scratch.weights =
      buffers.plan_elements("sampler weights", BufferRole::scratch, Dtype::f32, sizes.candidates);
  scratch.indices =
      buffers.plan_elements("sampler indices", BufferRole::scratch, Dtype::u32, sizes.candidates);
  scratch.counts = buffers.plan_elements("sampler counts", BufferRole::scratch, Dtype::u32, sizes.counts);
  scratch.masses = buffers.plan_elements("sampler masses", BufferRole::scratch, Dtype::f32, sizes.masses);
  return decoder;
}

gpu::Recording Decoder::empty_recording(std::uint32_t max_rows) const {
  return {.target = options_.target, .max_rows = max_rows, .ops = {}};
}

Body Decoder::record_body(const Weights& weights, const Buffers& buffers, std::uint32_t max_rows) const {
  Body body = {.recording = empty_recording(max_rows), .ends = {}};
  const gpu::Dtype activation = this->activation();
  const State shared = state(buffers);
  const gpu::Tensor normed = buffers.tensor(scratch_.normed, activation);
  kernels::embed(body.recording,
                 {.table = weights.embedding, .step = shared.step, .tokens = shared.tokens, .out = shared.x});
  body.ends.push_back(body.recording.ops.size());
  for (std::uint32_t i = 0; i < spec_.layers.size(); ++i) {
    record_attention(body.recording, i, spec_, std::get<AttentionSpec>(spec_.layers[i].mixer),
                     weights.layers[i],
                     {.step = shared.step,
                      .pages = shared.pages,
                      .rope = shared.rope,
                      .x = shared.x,
                      .normed = normed,
                      .qkv = buffers.tensor(scratch_.qkv, activation),
                      .q = buffers.tensor(scratch_.q, activation),
                      .mixed = buffers.tensor(scratch_.mixed, activation),
                      .keys = buffers.tensor(state_.keys[i], activation),
                      .values = buffers.tensor(state_.values[i], activation)});
    record_mlp(body.recording, i, spec_, weights.layers[i],
               {.step = shared.step,
                .x = shared.x,
                .normed = normed,
                .hidden = buffers.tensor(scratch_.hidden, activation)});
    body.ends.push_back(body.recording.ops.size());
  }
  return body;
}

gpu::Recording Decoder::record_head(const Weights& weights, const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const State shared = state(buffers);
  const gpu::Tensor last = buffers.tensor(scratch_.last, activation());
  kernels::rms_norm(recording, "final norm",
                    {.dim = spec_.dim,
                     .eps = spec_.rms_eps,
                     .rows = kernels::Rows::last,
                     .step = shared.step,
                     .x = shared.x,
                     .weight = weights.final_norm,
                     .out = last});
  kernels::matmul(recording, "head",
                  {.weights = weights.head,
                   .epilogue = kernels::Epilogue::store_f32,
                   .rows = kernels::Rows::last,
                   .step = shared.step,
                   .x = last,
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
  const State shared = state(buffers);
  kernels::argmax(recording, {.n_valid = spec_.n_valid_ids,
                              .logits = shared.logits,
                              .candidates = buffers.tensor(scratch_.candidates, gpu::Dtype::u32),
                              .step = shared.step});
  return recording;
}

gpu::Recording Decoder::record_sample(const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const State shared = state(buffers);
  kernels::sample(recording, {.n_valid = spec_.n_valid_ids,
                              .logits = shared.logits,
                              .maxima = buffers.tensor(scratch_.maxima, gpu::Dtype::u32),
                              .bounds = buffers.tensor(scratch_.bounds, gpu::Dtype::f32),
                              .weights = buffers.tensor(scratch_.weights, gpu::Dtype::f32),
                              .indices = buffers.tensor(scratch_.indices, gpu::Dtype::u32),
                              .counts = buffers.tensor(scratch_.counts, gpu::Dtype::u32),
                              .masses = buffers.tensor(scratch_.masses, gpu::Dtype::f32),
                              .step = shared.step});
  return recording;
}

gpu::Recording Decoder::record_advance(const Buffers& buffers) const {
  gpu::Recording recording = empty_recording(1);
  const State shared = state(buffers);
  kernels::advance(recording, {.step = shared.step, .tokens = shared.tokens, .seen = shared.seen});
  return recording;
}

State Decoder::state(const Buffers& buffers) const {
  return {.step = buffers.tensor(state_.step, gpu::Dtype::u32),
          .tokens = buffers.tensor(state_.tokens, gpu::Dtype::u32),
          .pages = buffers.tensor(state_.pages, gpu::Dtype::u32),
          .seen = buffers.tensor(state_.seen, gpu::Dtype::u32),
          .rope = buffers.tensor(state_.rope, gpu::Dtype::f32),
          .x = buffers.tensor(scratch_.x, gpu::Dtype::f32),
          .logits = buffers.tensor(scratch_.logits, gpu::Dtype::f32)};
}

}  // namespace ztvm::model
