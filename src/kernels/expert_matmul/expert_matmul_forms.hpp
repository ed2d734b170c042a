#pragma once
// The forms of an expert matmul that have a file of their own. Private to this folder.
#include "kernels/expert_matmul/expert_matmul.hpp"

namespace ztvm::kernels {

// 2 for gate and up, which an expert has one after the other.
inline std::uint32_t n_mats(const ExpertMatmulShape& shape) {
  return shape.epilogue == Epilogue::swiglu ? 2 : 1;
}

// Pairs by group in tiles on a GPU, in whole numbers. `args.x` stays as it is; the op reads `args.quantised`, which
// record_quantised_pairs() fills.
bool takes_integer_experts(const gpu::Recording& recording, const ExpertMatmul& args, QuantKind kind);
void record_quantised_pairs(gpu::Recording& recording, std::string_view name, const ExpertMatmul& args);
void record_integer_experts(gpu::Recording& recording, std::string_view name, const ExpertMatmul& args,
                            const MatrixPart& part, const ExpertMatmulShape& shape);

}  // namespace ztvm::kernels
