#pragma once
// Attention of several rows on a GPU, attention_rows.wgsl: how much a workgroup takes of it.
#include "gpu/op.hpp"
#include "kernels/attention_shape.hpp"

namespace ztvm::kernels {

// The constants of that shader.
struct RowsForm {
  std::uint32_t queries = 0;      // rows of a workgroup
  std::uint32_t block = 0;        // keys in workgroup memory at a time
  std::uint32_t row_threads = 0;  // that share the rows for the scores, each with two keys
  std::uint32_t out_groups = 0;   // of head_dim / 4 threads, the workgroup; they share the rows of the output
  std::uint32_t parts = 0;        // threads that look after the weights of a row
};

// The form for a recording of up to recording.max_rows rows that fits the device's limits. `head_dim` is a multiple of 4, at
// most 256.
RowsForm choose_rows_form(const gpu::Recording& recording, std::uint32_t head_dim);

// Adds the form's constants; the others are those of all forms.
gpu::Grid apply_rows_form(const RowsForm& form, const AttentionShape& shape, gpu::Program& program);

}  // namespace ztvm::kernels
