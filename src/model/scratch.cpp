#include "model/scratch.hpp"

#include <algorithm>

#include "kernels/argmax/argmax.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/delta_rule/delta_rule.hpp"
#include "kernels/expert_matmul/expert_matmul.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/sample/sample.hpp"
#include "model/blocks/delta_net.hpp"

namespace ztvm::model {
namespace {

// The widest of each activation over all layers. Zero: no layer has it.
struct Widths {
  std::uint32_t in = 0;
  std::uint32_t q = 0;
  std::uint32_t delta = 0;
  std::uint32_t mixed = 0;
  std::uint32_t hidden = 0;
  std::uint32_t experts = 0;
  std::uint32_t active = 0;
  std::uint32_t expert_hidden = 0;  // of all choices of a row
  bool shared = false;

  void add(const AttentionSpec& attention) {
    const std::uint32_t q_width = attention.n_heads * attention.head_dim;
    const std::uint32_t kv_width = attention.n_kv_heads * attention.head_dim;
    in = std::max(in, q_width * (attention.output_gate ? 2 : 1) + 2 * kv_width);
    q = std::max(q, q_width);
    mixed = std::max(mixed, q_width);
  }
  void add(const DeltaNetSpec& delta_net) {
    in = std::max(in, delta_net.in_width());
    q = std::max(q, delta_net.conv_channels());
    delta = std::max(delta, delta_net.value_width());
    mixed = std::max(mixed, delta_net.value_width());
  }
  void add(const MlpSpec& mlp) { hidden = std::max(hidden, mlp.ffn_dim); }
  void add(const MoeSpec& moe) {
    hidden = std::max(hidden, moe.shared_dim);
    experts = std::max(experts, moe.n_experts);
    active = std::max(active, moe.n_active);
    expert_hidden = std::max(expert_hidden, moe.n_active * moe.expert_dim);
    shared = shared || moe.shared_dim > 0;
  }
};

Widths widths_of(const ModelSpec& spec) {
  Widths widths;
  for (const LayerSpec& layer : spec.layers) {
    std::visit([&](const auto& part) { widths.add(part); }, layer.mixer);
    std::visit([&](const auto& part) { widths.add(part); }, layer.ffn);
  }
  return widths;
}

// The most that one row's attention needs in any layer.
std::uint64_t partial_elements(const ModelSpec& spec, const gpu::Target& target, std::uint32_t context) {
  std::uint64_t most = 0;
  for (const LayerSpec& layer : spec.layers) {
    const auto* attention = std::get_if<AttentionSpec>(&layer.mixer);
    if (attention == nullptr) continue;
    const kernels::AttentionShape shape = {
        .n_heads = attention->n_heads, .n_kv_heads = attention->n_kv_heads, .head_dim = attention->head_dim};
    most = std::max<std::uint64_t>(most, kernels::attention_partials(shape, target, context));
  }
  return most;
}

// The most that the delta rule's chunked form needs in any layer.
std::uint64_t delta_chunk_elements(const ModelSpec& spec, const gpu::Target& target, std::uint32_t max_rows) {
  std::uint64_t most = 0;
  for (const LayerSpec& layer : spec.layers) {
    const auto* delta_net = std::get_if<DeltaNetSpec>(&layer.mixer);
    if (delta_net == nullptr) continue;
    most = std::max<std::uint64_t>(
        most, kernels::delta_rule_scratch(delta_rule_shape(*delta_net), target, max_rows));
  }
  return most;
}

// Elements of a row that a product takes in whole numbers, the most in any layer: the input of a projection, or of the second
// product of all chosen experts.
std::uint32_t quantised_dim(const ModelSpec& spec, const Widths& widths, std::uint32_t max_rows) {
  std::uint32_t dim = std::max({spec.dim, widths.mixed, widths.hidden});
  for (const LayerSpec& layer : spec.layers) {
    const auto* moe = std::get_if<MoeSpec>(&layer.ffn);
    if (moe == nullptr || !kernels::should_group_experts(max_rows, moe->n_experts, moe->n_active)) continue;
    dim = std::max(dim, moe->n_active * moe->expert_dim);
  }
  return dim;
}

}  // namespace

ScratchPlan ScratchPlan::make(const ModelSpec& spec, const gpu::Target& target, std::uint32_t context,
                              std::uint32_t max_rows, Buffers& buffers) {
  using gpu::Dtype;
  const Dtype activation = target.f16 ? Dtype::f16 : Dtype::f32;
  ScratchPlan plan;
  const Widths widths = widths_of(spec);
  // Tiles of rows read whole tiles, so that scratch is rounded up to one.
  const std::uint64_t rows = round_up(max_rows, kernels::matmul_tile(max_rows));
  const auto add = [&](gpu::Tensor Scratch::* member, std::string_view label, Dtype dtype, std::uint64_t n) {
    if (n == 0) return;
    plan.entries_.push_back(
        {member, buffers.plan_elements(std::string(label), BufferRole::scratch, dtype, n), dtype});
  };
  add(&Scratch::x, "residual stream", Dtype::f32, rows * spec.dim);
  add(&Scratch::normed, "normed", activation, rows * spec.dim);
  add(&Scratch::in, "mixer input", activation, rows * widths.in);
  add(&Scratch::q, "queries", activation, rows * widths.q);
  add(&Scratch::attention_partials, "attention shares", Dtype::f32, partial_elements(spec, target, context));
  add(&Scratch::delta, "delta rule result", Dtype::f32, rows * widths.delta);
  add(&Scratch::delta_chunks, "delta rule chunks", Dtype::f32, delta_chunk_elements(spec, target, max_rows));
  add(&Scratch::mixed, "mixer result", activation, rows * widths.mixed);
  add(&Scratch::hidden, "feed-forward hidden", activation, rows * widths.hidden);
  add(&Scratch::router, "router logits", Dtype::f32, widths.experts == 0 ? 0 : rows * (widths.experts + 1));
  add(&Scratch::expert_ids, "chosen experts", Dtype::u32, rows * widths.active);
  add(&Scratch::expert_shares, "shares of experts", Dtype::f32, rows * widths.active);
  add(&Scratch::group_offsets, "expert groups", Dtype::u32, widths.experts == 0 ? 0 : widths.experts + 1);
  add(&Scratch::group_pairs, "pairs by expert", Dtype::u32, rows * widths.active);
  add(&Scratch::expert_hidden, "experts hidden", activation, rows * widths.expert_hidden);
  add(&Scratch::expert_out, "experts result", Dtype::f32, rows * widths.active * spec.dim);
  add(&Scratch::shared_out, "shared expert result", Dtype::f32, widths.shared ? rows * spec.dim : 0);
  if (!target.cpu && max_rows > 1) {
    const std::uint32_t dim = quantised_dim(spec, widths, max_rows);
    const std::uint64_t n_words = kernels::quantised_words(max_rows, dim, kernels::input_planes(target));
    plan.input_ = {
        .bytes = buffers.plan_elements("input in whole numbers", BufferRole::scratch, Dtype::u32, n_words),
        .scales = buffers.plan_elements("scales of the input", BufferRole::scratch, Dtype::f32,
                                        kernels::quantised_scales(max_rows, dim))};
  }
  add(&Scratch::last, "normed last row", activation, spec.dim);
  add(&Scratch::logits, "logits", Dtype::f32, spec.vocab);
  add(&Scratch::candidates, "candidates", Dtype::u32,
      4ull * div_up(spec.n_valid_ids, kernels::k_argmax_block));
  const kernels::SampleSizes sizes = kernels::sample_sizes(spec.n_valid_ids);
  add(&Scratch::maxima, "sampler maxima", Dtype::u32, sizes.maxima);
  add(&Scratch::bounds, "sampler bounds", Dtype::f32, 2);
  add(&Scratch::weights, "sampler weights", Dtype::f32, sizes.candidates);
  add(&Scratch::indices, "sampler indices", Dtype::u32, sizes.candidates);
  add(&Scratch::counts, "sampler counts", Dtype::u32, sizes.counts);
  add(&Scratch::masses, "sampler masses", Dtype::f32, sizes.masses);
  return plan;
}

Scratch ScratchPlan::bind(const Buffers& buffers) const {
  Scratch scratch;
  for (const Entry& entry : entries_) scratch.*entry.member = buffers.tensor(entry.slot, entry.dtype);
  if (input_) {
    scratch.input = {.bytes = buffers.tensor(input_->bytes, gpu::Dtype::u32),
                     .scales = buffers.tensor(input_->scales, gpu::Dtype::f32)};
  }
  return scratch;
}

}  // namespace ztvm::model
