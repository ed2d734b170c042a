// Rows of x in tiles on a GPU, by subgroup matrices: matmul_gpu_matrices.wgsl.
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "gpu/tuning.hpp"
#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

// Names of the shader.
struct MatrixTile {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t stage = 0;  // groups in workgroup memory
};

// The fastest on an H200 first (docs/performance.md). The last fits the 16 KiB and 256 threads that every device has.
constexpr std::array k_matrix_tiles = {
    MatrixTile{.rows = 128, .columns = 128, .stage = 2}, MatrixTile{.rows = 64, .columns = 128, .stage = 2},
    MatrixTile{.rows = 64, .columns = 128, .stage = 1}, MatrixTile{.rows = 64, .columns = 64, .stage = 1}};

std::uint32_t n_subgroups(const MatrixTile& tile) { return tile.rows / 64 * (tile.columns / 32); }

std::uint32_t workgroup_bytes(const MatrixTile& tile) {
  return 16 * (tile.rows + tile.columns) * (4 * tile.stage + 1) + n_subgroups(tile) * 16 * 16 * 4;
}

bool fits(const MatrixTile& tile, const gpu::Limits& limits) {
  return 32 * n_subgroups(tile) <= limits.workgroup_threads &&
         workgroup_bytes(tile) <= limits.workgroup_bytes;
}

// What makes f16 of weights.
void add_weights(gpu::Program& program, QuantKind kind) {
  if (kind == QuantKind::q4) {
    program.parts.push_back("matrix_group_q4");
    return;
  }
  const std::vector<std::string_view> levels = levels_parts(kind);
  program.parts.insert(program.parts.end(), levels.begin(), levels.end());
  program.parts.push_back("matrix_group_levels");
  program.consts.push_back(gpu::const_bool("SCALES_ARE_F16", kind == QuantKind::q3));
}

gpu::Form matrix_form(gpu::Program program, const MatrixTile& tile, std::uint32_t n_column_tiles) {
  program.body = "matmul_gpu_matrices";
  program.parts.push_back("matrix_stage");
  for (const auto& [constant, value] :
       {std::pair{"TILE_ROWS", tile.rows}, {"TILE_COLUMNS", tile.columns}, {"STAGE", tile.stage}}) {
    program.consts.push_back(gpu::const_u32(constant, value));
  }
  return {.name = fmt::format("{} x {} by matrices, {} group{}", tile.rows, tile.columns, tile.stage,
                              tile.stage == 1 ? "" : "s"),
          .program = std::move(program),
          .grid = {.x = n_column_tiles, .rows_axis = gpu::Grid::Axis::y, .rows_per_workgroup = tile.rows}};
}

}  // namespace

bool takes_matrix_tiles(const gpu::Recording& recording, const Matmul& args, QuantKind kind) {
  return recording.target.matrices && recording.max_rows > 1 && args.rows == Rows::all &&
         !levels_parts(kind).empty();
}

void record_matrix_tiles(gpu::Recording& recording, std::string_view name, const Matmul& args,
                         const MatrixPart& part, const MatmulShape& shape) {
  const std::uint32_t n_mats = shape.epilogue == Epilogue::swiglu ? 2 : 1;
  gpu::Program program = {
      .body = {},
      .parts = {"matrix_weights", "step", "tile_rows", "rows_of_matrix", epilogue_part(shape.epilogue)},
      .consts = matmul_consts(shape),
      .matrices = true};
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  add_weights(program, shape.kind);
  std::vector<gpu::Form> forms;
  for (const MatrixTile& tile : k_matrix_tiles) {
    if (!fits(tile, recording.limits)) continue;
    forms.push_back(matrix_form(program, tile, div_up(shape.n_out, tile.columns / n_mats)));
  }
  const bool few_first =
      recording.max_rows <= k_few_rows || forms.empty() || forms.front().grid.x < k_min_tiles;
  std::vector<gpu::Form> few = few_rows_matrix_forms(recording, shape, program);
  forms.insert(few_first ? forms.begin() : forms.end(), std::make_move_iterator(few.begin()),
               std::make_move_iterator(few.end()));
  gpu::Op op = matmul_op(name, args, part, shape);
  op.tolerance += k_matrix_weights_tolerance;
  record_tuned(recording, std::move(op), describe(shape, recording.max_rows), std::move(forms));
}

}  // namespace ztvm::kernels
