#include "model/blocks/layer_context.hpp"

#include "kernels/rms_norm/rms_norm.hpp"

namespace ztvm::model {

kernels::InputNorm input_norm(const LayerContext& context, std::string_view op_name, VectorHandle weight) {
  return {.name = op_name,
          .weight = context.weights.vector(weight),
          .eps = context.spec.rms_eps,
          .normed = context.scratch.normed};
}

void record_norm(const LayerContext& context, std::string_view name, VectorHandle weight) {
  kernels::rms_norm(context.recording, context.name(name),
                    {.dim = context.spec.dim,
                     .eps = context.spec.rms_eps,
                     .step = context.step,
                     .x = context.scratch.x,
                     .weight = context.weights.vector(weight),
                     .out = context.scratch.normed});
}

}  // namespace ztvm::model
