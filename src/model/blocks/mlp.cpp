#include "model/blocks/mlp.hpp"

#include <fmt/format.h>

#include "kernels/matmul/matmul.hpp"
#include "kernels/rms_norm/rms_norm.hpp"

namespace ztvm::model {

void record_mlp(gpu::Recording& recording, std::uint32_t layer, const ModelSpec& spec,
                const LayerWeights& weights, const MlpBuffers& buffers) {
  const auto name = [layer](std::string_view op) { return fmt::format("layer {} {}", layer, op); };
  kernels::rms_norm(recording, name("feed-forward norm"),
                    {.dim = spec.dim,
                     .eps = spec.rms_eps,
                     .step = buffers.step,
                     .x = buffers.x,
                     .weight = weights.ffn_norm,
                     .out = buffers.normed});
  kernels::matmul(recording, name("gate and up"),
                  {.weights = weights.gate_up,
                   .epilogue = kernels::Epilogue::swiglu,
                   .step = buffers.step,
                   .x = buffers.normed,
                   .out = buffers.hidden});
  kernels::matmul(recording, name("down"),
                  {.weights = weights.down,
                   .epilogue = kernels::Epilogue::add_residual,
                   .step = buffers.step,
                   .x = buffers.hidden,
                   .out = buffers.x});
}

}  // namespace ztvm::model
