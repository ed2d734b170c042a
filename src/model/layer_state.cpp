#include "model/layer_state.hpp"

#include <fmt/format.h>

#include "kernels/attention_shape.hpp"

namespace ztvm::model {

LayerStatePlan::RecurrentSlots LayerStatePlan::plan_recurrent(const std::string& label,
                                                              std::uint64_t n_elements, Buffers& buffers) {
  RecurrentSlots slots;
  slots.n_bytes = n_elements * sizeof(float);
  slots.live = buffers.plan(label, BufferRole::state, slots.n_bytes);
  for (std::size_t i = 0; i < slots.saved.size(); ++i) {
    slots.saved[i] = buffers.plan(fmt::format("{} copy {}", label, i), BufferRole::state, slots.n_bytes);
  }
  return slots;
}

LayerStatePlan LayerStatePlan::make(const ModelSpec& spec, gpu::Dtype cache, std::uint32_t n_pages,
                                    Buffers& buffers) {
  LayerStatePlan plan;
  plan.cache_ = cache;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const auto label = [i](std::string_view what) { return fmt::format("layer {} {}", i, what); };
    if (const auto* attention = std::get_if<AttentionSpec>(&spec.layers[i].mixer)) {
      const std::uint64_t elements = kernels::cache_elements({.n_heads = attention->n_heads,
                                                              .n_kv_heads = attention->n_kv_heads,
                                                              .head_dim = attention->head_dim},
                                                             cache, n_pages);
      plan.layers_.emplace_back(AttentionSlots{
          .keys = buffers.plan_elements(label("keys"), BufferRole::kv_cache, cache, elements),
          .values = buffers.plan_elements(label("values"), BufferRole::kv_cache, cache, elements)});
    } else {
      const auto& delta_net = std::get<DeltaNetSpec>(spec.layers[i].mixer);
      plan.layers_.emplace_back(DeltaNetSlots{
          .conv =
              plan_recurrent(label("convolution state"),
                             std::uint64_t{delta_net.conv_width - 1} * delta_net.conv_channels(), buffers),
          .delta = plan_recurrent(label("delta state"),
                                  std::uint64_t{delta_net.value_width()} * delta_net.key_dim, buffers)});
    }
  }
  return plan;
}

std::vector<LayerState> LayerStatePlan::bind(const Buffers& buffers) const {
  std::vector<LayerState> states;
  for (const auto& layer : layers_) {
    if (const auto* attention = std::get_if<AttentionSlots>(&layer)) {
      states.emplace_back(AttentionState{.keys = buffers.tensor(attention->keys, cache_),
                                         .values = buffers.tensor(attention->values, cache_)});
    } else {
      const auto& delta_net = std::get<DeltaNetSlots>(layer);
      states.emplace_back(DeltaNetState{.conv = buffers.tensor(delta_net.conv.live, gpu::Dtype::f32),
                                        .delta = buffers.tensor(delta_net.delta.live, gpu::Dtype::f32)});
    }
  }
  return states;
}

std::vector<RecurrentBuffers> LayerStatePlan::recurrent(const Buffers& buffers) const {
  std::vector<RecurrentBuffers> all;
  for (const auto& layer : layers_) {
    const auto* delta_net = std::get_if<DeltaNetSlots>(&layer);
    if (delta_net == nullptr) continue;
    for (const RecurrentSlots& slots : {delta_net->conv, delta_net->delta}) {
      RecurrentBuffers& bound = all.emplace_back();
      bound.live = buffers.tensor(slots.live, gpu::Dtype::f32);
      bound.n_bytes = slots.n_bytes;
      for (std::size_t i = 0; i < slots.saved.size(); ++i) {
        bound.saved[i] = buffers.tensor(slots.saved[i], gpu::Dtype::f32);
      }
    }
  }
  return all;
}

}  // namespace ztvm::model
