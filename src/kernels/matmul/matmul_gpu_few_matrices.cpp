// Few rows of x on a GPU by subgroup matrices: matmul_gpu_few_matrices.wgsl.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

// Of the shader: sides of a matrix, elements of a weight row in workgroup memory, rows of x and weight rows of a workgroup.
constexpr std::uint32_t k_side = 16;
constexpr std::uint32_t k_stage = 64;
constexpr std::uint32_t k_tile = 32;

// SUBGROUPS of the shader that its workgroup memory and threads leave room for, the fastest on an H200 first
// (docs/performance.md): the more, the sooner a workgroup is done, which pays where there are few.
std::vector<std::uint32_t> subgroup_counts(std::uint32_t n_weight_rows, const gpu::Limits& limits) {
  constexpr std::uint32_t k_many_tiles = 512;
  std::vector<std::uint32_t> counts = {8, 4, 2};
  if (n_weight_rows / k_tile >= k_many_tiles) counts = {4, 8, 2};
  std::erase_if(counts, [&](std::uint32_t n) {
    constexpr std::uint32_t k_vector_bytes = 16;  // rows and tiles are a vector longer than what they hold
    constexpr std::uint32_t k_tile_bytes = k_tile * (k_stage * 2 + k_vector_bytes) + k_vector_bytes;
    return 32 * n > limits.workgroup_threads ||
           n * (k_tile_bytes + k_side * k_side * 4) > limits.workgroup_bytes;
  });
  return counts;
}

}  // namespace

std::vector<gpu::Form> few_rows_matrix_forms(const gpu::Recording& recording, const MatmulShape& shape,
                                             const gpu::Program& program) {
  std::vector<gpu::Form> forms;
  if (recording.max_rows > k_some_rows || shape.dim % k_stage != 0) return forms;
  // x is read by whole matrices.
  if (recording.max_rows % k_side != 0) return forms;
  const std::uint32_t n_mats = shape.epilogue == Epilogue::swiglu ? 2 : 1;
  for (const std::uint32_t n_subgroups : subgroup_counts(shape.n_out * n_mats, recording.limits)) {
    gpu::Program with_subgroups = program;
    with_subgroups.body = "matmul_gpu_few_matrices";
    with_subgroups.consts.push_back(gpu::const_u32("SUBGROUPS", n_subgroups));
    forms.push_back({.name = fmt::format("{} x {} by matrices, {} subgroups", k_tile, k_tile, n_subgroups),
                     .program = std::move(with_subgroups),
                     .grid = {.x = div_up(shape.n_out, k_tile / n_mats),
                              .rows_axis = gpu::Grid::Axis::y,
                              .rows_per_workgroup = k_tile}});
  }
  return forms;
}

}  // namespace ztvm::kernels
