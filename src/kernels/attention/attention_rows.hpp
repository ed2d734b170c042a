#pragma once
// Attention of several rows on a GPU, attention_rows.wgsl: how much a workgroup takes of it.
#include "gpu/op.hpp"
#include "kernels/attention_shape.hpp"

namespace ztvm::kernels {

// The forms for a recording of up to recording.max_rows rows that fit the device's limits, with their constants added to
// those of `program`. head_dim is a multiple of 4, at most 256.
std::vector<gpu::Form> attention_rows_forms(const gpu::Recording& recording, const AttentionShape& shape,
                                            const gpu::Program& program);

}  // namespace ztvm::kernels
