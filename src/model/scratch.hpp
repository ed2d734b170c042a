#pragma once
// Activations of one pass, planned once and shared by all layers: each as wide as the widest layer needs it.
#include <cstdint>
#include <optional>

#include "gpu/op.hpp"
#include "kernels/quantise_input/quantise_input.hpp"
#include "model/buffers.hpp"
#include "model/spec.hpp"

namespace ztvm::model {

// [max_rows, width] each, unless said otherwise; "activation" is the target's type, f16 or f32.
struct Scratch {
  gpu::Tensor x;                   // [max_rows, dim] f32, the residual stream
  gpu::Tensor normed;              // [max_rows, dim] activation, input of a mixer or feed-forward part
  gpu::Tensor in;                  // activation, fused input projection of a mixer
  gpu::Tensor q;                   // activation, rotated queries; convolved q, k, v of DeltaNet
  gpu::Tensor attention_partials;  // f32, of one row's attention; no buffer where it isn't used
  gpu::Tensor delta;               // [max_rows, value width] f32, result of the delta rule
  gpu::Tensor delta_chunks;        // f32, of the delta rule's chunked form; no buffer where it isn't used
  gpu::Tensor mixed;               // activation, what a mixer gives to its output projection
  gpu::Tensor hidden;              // activation, inside a dense feed-forward part or a shared expert
  gpu::Tensor last;                // [1, dim] activation, normed last row
  gpu::Tensor logits;              // [vocab] f32
  kernels::QuantisedInput
      input;  // of the product at hand, in whole numbers; no buffers where none is made so
  // Of a mixture of experts; pairs are (row, choice).
  gpu::Tensor router;         // [max_rows, experts + 1] f32 logits, the shared expert's gate last
  gpu::Tensor expert_ids;     // [max_rows, n_active] u32
  gpu::Tensor expert_shares;  // [max_rows, n_active] f32
  gpu::Tensor group_offsets;  // [experts + 1] u32
  gpu::Tensor group_pairs;    // [max_rows n_active] u32
  gpu::Tensor expert_hidden;  // [max_rows n_active, expert_dim] activation
  gpu::Tensor expert_out;     // [max_rows n_active, dim] f32
  gpu::Tensor shared_out;     // [max_rows, dim] f32
  // Of argmax and sample, see kernels/sample/sample.hpp.
  gpu::Tensor candidates;
  gpu::Tensor maxima;
  gpu::Tensor bounds;
  gpu::Tensor weights;
  gpu::Tensor indices;
  gpu::Tensor counts;
  gpu::Tensor masses;
};

// Plans them, then binds them once allocated.
class ScratchPlan {
 public:
  static ScratchPlan make(const ModelSpec& spec, const gpu::Target& target, std::uint32_t context,
                          std::uint32_t max_rows, Buffers& buffers);
  Scratch bind(const Buffers& buffers) const;

 private:
  // One entry of Scratch: where it is, and the slot it gets.
  struct Entry {
    gpu::Tensor Scratch::* member = nullptr;
    Slot slot{};
    gpu::Dtype dtype = gpu::Dtype::f32;
  };
  struct InputSlots {
    Slot bytes{};
    Slot scales{};
  };
  std::vector<Entry> entries_;
  std::optional<InputSlots> input_;
};

}  // namespace ztvm::model
