#pragma once
// From the tensors of safetensors files to records: MLX's triples are joined, floats stay as they are.
//
// X.weight U32 [.., n, k * bits / 32], X.scales and X.biases [.., n, k / group] are the matrix X.weight [.., n, k].
// The three may lie in different files.
#include <span>

#include "load/affine_config.hpp"
#include "load/raw_tensor.hpp"

namespace ztvm::load {

// Fills `checkpoint.tensors` and `checkpoint.skipped`; its files are those of `tensors`. Errors: corrupt_file for a
// triple that is not complete or whose shapes contradict each other or config.json, which must know its bits.
Result<void> join_mlx_tensors(std::span<const RawTensor> tensors, const AffineConfig& config,
                              Checkpoint& checkpoint);

}  // namespace ztvm::load
