#pragma once
// The weights of a model once their buffers exist: what blocks record with.
#include "model/buffers.hpp"
#include "model/weight_plan.hpp"

namespace ztvm::model {

class Weights {
 public:
  // Both outlive this.
  Weights(const WeightPlan& plan, const Buffers& buffers) : plan_(plan), buffers_(buffers) {}

  kernels::Matrix matrix(MatrixHandle handle) const { return plan_.matrix(handle, buffers_); }
  gpu::Tensor vector(VectorHandle handle) const { return plan_.vector(handle, buffers_); }

 private:
  const WeightPlan& plan_;
  const Buffers& buffers_;
};

}  // namespace ztvm::model
