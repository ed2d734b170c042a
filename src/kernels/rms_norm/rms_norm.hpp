#pragma once
// RMS norm: out = x * rsqrt(mean(x^2) + eps) * weight, over each row (Zhang and Sennrich 2019, section 4).
// GPU set: one workgroup a row; CPU set: one thread a row. The sum accumulates in f32.
// Bytes moved: dim * 4 read twice and written once a row.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct RmsNorm {
  std::uint32_t dim = 0;
  float eps = 0.0f;
  Rows rows = Rows::all;  // last: reads the last row of the pass and writes row 0
  gpu::Tensor step;       // Step
  gpu::Tensor x;          // [max_rows, dim] f32
  gpu::Tensor weight;     // [dim] f32
  gpu::Tensor out;        // [max_rows, dim] activation type
};

void rms_norm(gpu::Recording& recording, std::string_view name, const RmsNorm& args);

// The oracle, on bindings step, x, weight, out.
void rms_norm_reference(std::span<const gpu::HostView> views, std::uint32_t dim, float eps, Rows rows);

}  // namespace ztvm::kernels
