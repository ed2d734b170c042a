#pragma once
// What a layer remembers between passes: keys and values, or DeltaNet's recurrent state with copies of it.
#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "gpu/op.hpp"
#include "model/buffers.hpp"
#include "model/spec.hpp"

namespace ztvm::model {

// Copies of a recurrent state that prefix reuse keeps (engine/recurrent_snapshots.hpp).
inline constexpr std::size_t k_recurrent_copies = 2;

struct RecurrentBuffers {
  gpu::Tensor live;
  std::array<gpu::Tensor, k_recurrent_copies> saved;
  std::uint64_t n_bytes = 0;
};

struct AttentionState {
  gpu::Tensor keys;    // [page][kv_head][slot][slot_elements] of the KvType
  gpu::Tensor values;  // the same
};
struct DeltaNetState {
  gpu::Tensor conv;   // [conv_width - 1, conv_channels] f32, raw inputs, oldest first
  gpu::Tensor delta;  // [n_value_heads, key_dim, value_dim] f32
};
using LayerState = std::variant<AttentionState, DeltaNetState>;

// Plans the state of all layers, then binds it once allocated.
class LayerStatePlan {
 public:
  static LayerStatePlan make(const ModelSpec& spec, gpu::Dtype cache, std::uint32_t n_pages,
                             Buffers& buffers);
  std::vector<LayerState> bind(const Buffers& buffers) const;
  std::vector<RecurrentBuffers> recurrent(const Buffers& buffers) const;

 private:
  struct RecurrentSlots {
    Slot live{};
    std::array<Slot, k_recurrent_copies> saved{};
    std::uint64_t n_bytes = 0;
  };
  struct AttentionSlots {
    Slot keys{};
    Slot values{};
  };
  struct DeltaNetSlots {
    RecurrentSlots conv;
    RecurrentSlots delta;
  };
  static RecurrentSlots plan_recurrent(const std::string& label, std::uint64_t n_elements, Buffers& buffers);

  gpu::Dtype cache_ = gpu::Dtype::f32;  // of keys and values
  std::vector<std::variant<AttentionSlots, DeltaNetSlots>> layers_;
};

}  // namespace ztvm::model
