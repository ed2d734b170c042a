#pragma once
// Causal depthwise convolution, then SiLU, with zeros before the sequence (conv1d of transformers'
// Qwen3NextGatedDeltaNet, and its state for decoding):
//   out[t, c] = silu(sum_j weight[c, j] * x[t - (width - 1) + j, first + c])
// One thread = one channel of a tile of rows. Threads of the first tile read the state, and the same ones write it at
// their end; later tiles begin with rows of x, so nobody reads what another has written.
// The sum and SiLU are f32. out has the activation type: q and k are normalised next and v is used linearly, so its
// rounding is that of any other activation; state keeps the raw rows, which are exact.
// Bytes moved: x and out once, weight once a tile, state twice.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct CausalConv {
  std::uint32_t channels = 0;
  std::uint32_t width = 0;     // taps, 2 to 8
  std::uint32_t x_stride = 0;  // elements of a row of x
  std::uint32_t first = 0;     // column of x where the channels begin
  gpu::Tensor step;            // Step
  gpu::Tensor x;               // [max_rows, x_stride] activation type
  gpu::Tensor weight;          // [channels, width] f32; the last tap multiplies the row itself
  gpu::Tensor state;  // [width - 1, channels] f32: the last raw rows, oldest first; zero at position 0
  gpu::Tensor out;    // [max_rows, channels] activation type
};

void causal_conv(gpu::Recording& recording, std::string_view name, const CausalConv& args);

struct CausalConvShape {
  std::uint32_t channels = 0;
  std::uint32_t width = 0;
  std::uint32_t x_stride = 0;
  std::uint32_t first = 0;
};

// The oracle, on bindings step, x, weight, state, out.
void causal_conv_reference(std::span<const gpu::HostView> views, const CausalConvShape& shape);

}  // namespace ztvm::kernels
