#pragma once
// The norm after the delta rule (Yang et al. 2024, arXiv 2412.06464, section 3.4; transformers' Qwen3NextRMSNormGated):
//   out[r, h, :] = o[r, h, :] * rsqrt(mean(o[r, h, :]^2) + eps) * weight * silu(z[r, h, :])
// GPU set: one workgroup = one head of one row; CPU set: one thread. The sum of squares and the gate are f32.
// Bytes moved: o read twice, z once, out written once.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct GatedNorm {
  std::uint32_t n_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t x_stride = 0;  // elements of a row of x
  std::uint32_t first = 0;     // column of x where z [n_heads, head_dim] begins
  float eps = 0.0f;
  gpu::Tensor step;    // Step
  gpu::Tensor o;       // [max_rows, n_heads, head_dim] f32
  gpu::Tensor x;       // [max_rows, x_stride] activation type
  gpu::Tensor weight;  // [head_dim] f32, the same for all heads
  gpu::Tensor out;     // [max_rows, n_heads, head_dim] activation type
};

void gated_norm(gpu::Recording& recording, std::string_view name, const GatedNorm& args);

struct GatedNormShape {
  std::uint32_t n_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t x_stride = 0;
  std::uint32_t first = 0;
  float eps = 0.0f;
};

// The oracle, on bindings step, o, x, weight, out.
void gated_norm_reference(std::span<const gpu::HostView> views, const GatedNormShape& shape);

}  // namespace ztvm::kernels
