#pragma once
// Token embedding: out[r, :] = table[tokens[r], :], dequantised to f32.
// One thread = one group of 32 elements of one row. Bytes moved: one table row and dim * 4 a token.
// A table in several parts is several ops, each writing the rows whose token it holds.
#include "kernels/matrix.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct Embed {
  const Matrix& table;  // [vocab, dim]
  gpu::Tensor step;     // Step
  gpu::Tensor tokens;   // [max_rows] u32, each below vocab
  gpu::Tensor out;      // [max_rows, dim] f32
};

void embed(gpu::Recording& recording, const Embed& args);

// The oracle of one part, on bindings words, scales, step, tokens, out.
void embed_reference(std::span<const gpu::HostView> views, QuantKind kind, std::uint32_t dim,
                     std::uint32_t first_row, std::uint32_t part_rows);

}  // namespace ztvm::kernels
