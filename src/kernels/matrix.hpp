#pragma once
// A weight matrix on a device, in one buffer pair or several: when it exceeds the adapter's binding limit, or when
// fused tensors are stored in different kinds.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/quant_layout.hpp"
#include "gpu/op.hpp"

namespace ztvm::kernels {

// Rows [first_row, first_row + n_rows) of a matrix.
struct MatrixPart {
  QuantKind kind = QuantKind::f32;
  std::uint32_t first_row = 0;
  std::uint32_t n_rows = 0;
  gpu::Tensor words;   // u32, layout of base/quant_layout.hpp
  gpu::Tensor scales;  // u32; equal to words for f32, f16 and bf16, which have none
};

struct Matrix {
  std::uint32_t rows = 0;  // outputs
  std::uint32_t dim = 0;   // inputs, a multiple of every part's QuantLayout::dim_multiple()
  std::vector<MatrixPart> parts;
};

// The shared shader part that reads this kind of weights; it needs the part "quads" beside it.
std::string_view weights_part(QuantKind kind);
// Those that give a group of weights as signed bytes. None: the kind has no whole numbers with one scale a group.
std::vector<std::string_view> levels_parts(QuantKind kind);

// Row `row` of a part, dequantised by an oracle: `words` and `scales` are the first two bindings of the kernel.
void load_row(const gpu::HostView& words, const gpu::HostView& scales, QuantKind kind, std::uint32_t row,
              std::span<float> out);

}  // namespace ztvm::kernels
