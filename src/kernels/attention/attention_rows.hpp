#pragma once
// Attention of several rows on a GPU, attention_rows.wgsl: how much a workgroup takes of it.
#include "gpu/op.hpp"
#include "kernels/attention_shape.hpp"

namespace ztvm::kernels {

// Chooses the form for a recording of up to recording.max_rows rows that fits the device's limits, and adds its constants to
// those of all forms. head_dim is a multiple of 4, at most 256.
gpu::Grid apply_rows_form(const gpu::Recording& recording, const AttentionShape& shape,
                          gpu::Program& program);

}  // namespace ztvm::kernels
