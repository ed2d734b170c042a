#pragma once
// Scales and biases of affine matrices that are too small for f16, in which the kernels read them.
//
// Below 2^-14 an f16 keeps multiples of 2^-24 only, so that a matrix of small weights would lose bits, or all of them.
// Beside usual weights that is nothing: MLX itself writes a scale of 1e-7 for a group of zeros. So what counts is by how
// much a weight changes, against the largest of its step (some thousand rows).
#include <optional>
#include <span>
#include <string>

#include "load/upload_plan.hpp"

namespace ztvm::load {

// The sentence on the first scale or bias whose rounding to f16 changes a weight by more than 2^-9 of the largest weight
// of the step. Nothing for other steps than affine ones. `sources` as in apply(), `files` the checkpoint's.
std::optional<std::string> small_scale_problem(const UploadStep& step, std::span<const Bytes> sources,
                                               std::span<const CheckpointFile> files);

}  // namespace ztvm::load
