#pragma once
// What every block records with: where to, which layer, and the buffers that all layers share.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/op.hpp"
#include "kernels/matmul/matmul.hpp"
#include "model/scratch.hpp"
#include "model/spec.hpp"
#include "model/weights.hpp"

namespace ztvm::model {

struct LayerContext {
  gpu::Recording& recording;
  std::uint32_t layer = 0;
  const ModelSpec& spec;
  const Weights& weights;
  const Scratch& scratch;
  gpu::Tensor step;           // Step
  gpu::Tensor pages;          // [n_pages] u32
  gpu::Tensor rope;           // [context, n_rotated / 2, 2] f32
  std::uint32_t context = 0;  // positions that the page table has

  std::string name(std::string_view op) const { return fmt::format("layer {} {}", layer, op); }
};

// RMS norm of the residual stream, how every block begins: along with the product that `x = scratch.x` is given to, or as
// an op of its own into scratch.normed, where several read it.
kernels::InputNorm input_norm(const LayerContext& context, std::string_view op_name, VectorHandle weight);
void record_norm(const LayerContext& context, std::string_view name, VectorHandle weight);

}  // namespace ztvm::model
