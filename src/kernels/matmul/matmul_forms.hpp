#pragma once
// The forms of a matmul, one file each, and what they share. Private to this folder.
#include "kernels/matmul/matmul.hpp"

namespace ztvm::kernels {

std::string_view epilogue_part(Epilogue epilogue);
// N_GROUPS, N_MATS, PAIR_OFFSET, OUT_STRIDE, OUT_FIRST.
std::vector<gpu::Const> matmul_consts(const MatmulShape& shape);
// An op on words, scales, step, x, out with its oracle, and the tolerance of exact weights and x; its form sets program and
// grid.
gpu::Op matmul_op(std::string_view name, const Matmul& args, const MatrixPart& part,
                  const MatmulShape& shape);

// What the forms of such an op depend on, besides the kernel set: "matmul of 1 row, q4, 9216 x 3072, normed".
std::string describe(const MatmulShape& shape, std::uint32_t max_rows);

// One row of x on a CPU adapter, q4 or q8 weights, four rows a thread. False: the form does not fit, nothing was
// recorded.
bool record_cpu_rows4(gpu::Recording& recording, std::string_view name, const Matmul& args,
                      const MatrixPart& part, const MatmulShape& shape);

// One row of x on a GPU.
bool is_gpu_row(const gpu::Recording& recording, const Matmul& args);
// Whether that form takes the norm of its input along.
bool gpu_row_takes_norm(const Matrix& weights);
void record_gpu_row(gpu::Recording& recording, std::string_view name, const Matmul& args,
                    const MatrixPart& part, const MatmulShape& shape);

// Fewer tiles leave most of a large GPU idle. On an H200 24 of a short prompt, by subgroup matrices, take 1.5 to 2.2 times as
// long as smaller ones, 72 half; for the f32 tiles, of which 512 rows have 12 at a router of 256 experts, it was counted.
inline constexpr std::uint32_t k_min_tiles = 48;

// Rows of x in tiles on a GPU, in whole numbers. `args.x` stays as it is; the op reads `args.quantised`, which
// record_quantised_input() fills.
bool takes_integer_tiles(const gpu::Recording& recording, const Matmul& args, QuantKind kind);
void record_quantised_input(gpu::Recording& recording, std::string_view name, const Matmul& args);
// The same for few rows, without workgroup memory for the operands: other programs for the bindings of that op, `program`
// with what all of its forms share. None for many rows.
std::vector<gpu::Form> few_rows_forms(const gpu::Recording& recording, const MatmulShape& shape,
                                      const gpu::Program& program);
void record_integer_tiles(gpu::Recording& recording, std::string_view name, const Matmul& args,
                          const MatrixPart& part, const MatmulShape& shape);

// Rows of x in tiles on a GPU, by subgroup matrices.
bool takes_matrix_tiles(const gpu::Recording& recording, const Matmul& args, QuantKind kind);
// The same for few or some rows: other programs for that op, `program` with what all of its forms share. None for more.
std::vector<gpu::Form> few_rows_matrix_forms(const gpu::Recording& recording, const MatmulShape& shape,
                                             const gpu::Program& program);
void record_matrix_tiles(gpu::Recording& recording, std::string_view name, const Matmul& args,
                         const MatrixPart& part, const MatmulShape& shape);

}  // namespace ztvm::kernels
