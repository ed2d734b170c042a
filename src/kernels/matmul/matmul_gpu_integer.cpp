// Rows of x in tiles on a GPU, in whole numbers.
#include <fmt/format.h>

#include <algorithm>

#include "gpu/tuning.hpp"
#include "kernels/integer_tile.hpp"
#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

using Tile = IntegerTile;

std::uint32_t threads(const Tile& tile) {
  return tile.rows / tile.thread_rows * (tile.columns / Tile::k_thread_columns) * tile.teams;
}

// Of the shader's workgroup variables.
std::uint32_t workgroup_bytes(const Tile& tile, std::uint32_t planes) {
  const std::uint32_t x_bytes = 2 * planes * (tile.rows + 1) * 16 + tile.rows * 8;
  const std::uint32_t w_bytes = 2 * (tile.columns + 1) * 16 + tile.columns * 8;
  return tile.stage * (x_bytes + w_bytes);
}

// Every thread brings as much of a stage as the others.
bool is_even(const Tile& tile, std::uint32_t planes) {
  return tile.stage * 2 * planes * tile.rows % threads(tile) == 0 &&
         tile.stage * tile.columns % threads(tile) == 0;
}

// For prompts, the fastest on an H200 first (docs/performance.md); for few rows small tiles, whose groups are shared by teams
// of threads, the more where there are few tiles. The first fits the 16 KiB and 256 threads that every device has.
std::vector<Tile> tiles(const gpu::Recording& recording, std::uint32_t n_weight_rows) {
  constexpr std::uint32_t k_few_tiles = 512;
  std::vector<Tile> all;
  if (recording.max_rows > k_few_rows) {
    all = {{.rows = 32, .columns = 64, .thread_rows = 4, .teams = 1, .stage = 2},
           {.rows = 64, .columns = 64, .thread_rows = 8, .teams = 1, .stage = 2},
           {.rows = 32, .columns = 32, .thread_rows = 4, .teams = 2, .stage = 4},
           {.rows = 64, .columns = 128, .thread_rows = 8, .teams = 1, .stage = 2}};
  } else {
    const bool many_tiles = n_weight_rows / 16 >= k_few_tiles;
    const std::uint32_t teams = many_tiles ? 4 : 8;
    all = {{.rows = 16, .columns = 16, .thread_rows = 4, .teams = teams, .stage = teams}};
  }
  const std::uint32_t planes = input_planes(recording.target);
  std::erase_if(all, [&](const Tile& tile) {
    return threads(tile) > recording.limits.workgroup_threads ||
           workgroup_bytes(tile, planes) > recording.limits.workgroup_bytes || !is_even(tile, planes);
  });
  return all;
}

gpu::Form tile_form(gpu::Program program, QuantisedOrder order, const Tile& tile,
                    std::uint32_t n_column_tiles) {
  program.body = "matmul_gpu_integer";
  program.parts.insert(program.parts.end(), {"tile_rows", "rows_of_matrix"});
  program.consts.push_back(gpu::const_bool("BY_VECTOR", order == QuantisedOrder::by_vector));
  add_tile_consts(program, tile);
  return {.name = fmt::format("{} x {}, {} rows a thread, {} team{}, {} groups", tile.rows, tile.columns,
                              tile.thread_rows, tile.teams, tile.teams == 1 ? "" : "s", tile.stage),
          .program = std::move(program),
          .grid = {.x = n_column_tiles, .rows_axis = gpu::Grid::Axis::y, .rows_per_workgroup = tile.rows}};
}

// Threads of the forms for few rows have a group each.
QuantisedOrder input_order(const gpu::Recording& recording) {
  return recording.max_rows <= k_few_rows ? QuantisedOrder::by_vector : QuantisedOrder::by_group;
}

}  // namespace

bool takes_integer_tiles(const gpu::Recording& recording, const Matmul& args, QuantKind kind) {
  return !recording.target.cpu && recording.max_rows > 1 && args.rows == Rows::all && args.quantised &&
         !levels_parts(kind).empty();
}

void record_quantised_input(gpu::Recording& recording, std::string_view name, const Matmul& args) {
  quantise_input(recording, std::string(name) + " in whole numbers",
                 {.dim = args.weights.dim,
                  .step = args.step,
                  .x = args.x,
                  .out = *args.quantised,
                  .order = input_order(recording)});
}

void record_integer_tiles(gpu::Recording& recording, std::string_view name, const Matmul& args,
                          const MatrixPart& part, const MatmulShape& whole_shape) {
  MatmulShape shape = whole_shape;
  shape.planes = input_planes(recording.target);
  shape.order = input_order(recording);
  const std::uint32_t n_mats = shape.epilogue == Epilogue::swiglu ? 2 : 1;
  gpu::Program program = {.body = {}, .parts = levels_parts(shape.kind), .consts = matmul_consts(shape)};
  program.parts.insert(program.parts.end(), {"step", "weight_row", epilogue_part(shape.epilogue)});
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  program.consts.push_back(gpu::const_u32("PLANES", shape.planes));
  program.consts.push_back(gpu::const_u32("X_SCALES", 5));
  std::vector<gpu::Form> forms = few_rows_forms(recording, shape, program);
  for (const Tile& tile : tiles(recording, shape.n_out * n_mats)) {
    forms.push_back(tile_form(program, shape.order, tile, div_up(shape.n_out, tile.columns / n_mats)));
  }
  gpu::Op op = matmul_op(name, args, part, shape);
  op.bindings[3].tensor = args.quantised->bytes;
  op.bindings.push_back({args.quantised->scales, gpu::Access::read});
  record_tuned(recording, std::move(op), describe(shape, recording.max_rows), std::move(forms));
}

}  // namespace ztvm::kernels
