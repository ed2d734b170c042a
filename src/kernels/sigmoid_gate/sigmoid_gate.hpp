#pragma once
// The output gate of attention: mixed[r, i] *= sigmoid(x[r, first + i]), in place (transformers' Qwen3NextAttention).
// One thread = one element. The sigmoid is f32. Bytes moved: mixed and its gate read once, mixed written once.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct SigmoidGate {
  std::uint32_t dim = 0;       // elements of a row of mixed
  std::uint32_t x_stride = 0;  // elements of a row of x
  std::uint32_t first = 0;     // column of x where the gate begins; first + dim is at most x_stride
  gpu::Tensor step;            // Step
  gpu::Tensor x;               // [max_rows, x_stride] activation type
  gpu::Tensor mixed;           // [max_rows, dim] activation type
};

void sigmoid_gate(gpu::Recording& recording, std::string_view name, const SigmoidGate& args);

struct SigmoidGateShape {
  std::uint32_t dim = 0;
  std::uint32_t x_stride = 0;
  std::uint32_t first = 0;
};

// The oracle, on bindings step, x, mixed.
void sigmoid_gate_reference(std::span<const gpu::HostView> views, const SigmoidGateShape& shape);

}  // namespace ztvm::kernels
