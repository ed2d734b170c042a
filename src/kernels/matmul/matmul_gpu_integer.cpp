// Rows of x in tiles on a GPU, in whole numbers.
#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

struct Tile {
  std::uint32_t rows = 64;
  std::uint32_t columns = 64;
  std::uint32_t thread_rows = 8;
  std::uint32_t thread_columns = 4;
  std::uint32_t teams = 1;
  std::uint32_t stage = 2;
};

// Measured on an H200 (docs/performance.md): 64 by 64 for prompts; few rows, where the weights decide, in small tiles whose
// groups are shared by teams of threads, the more where there are few tiles. All fit the 16 KiB and 256 threads that every
// device has.
Tile choose_tile(std::uint32_t max_rows, std::uint32_t n_weight_rows) {
  constexpr std::uint32_t k_few_rows = 32;
  constexpr std::uint32_t k_few_tiles = 512;
  if (max_rows > k_few_rows) return {};
  Tile tile = {.rows = 16, .columns = 16, .thread_rows = 4, .thread_columns = 4, .teams = 4, .stage = 4};
  if (n_weight_rows / tile.columns < k_few_tiles) tile.teams = tile.stage = 8;
  return tile;
}

}  // namespace

bool takes_integer_tiles(const gpu::Recording& recording, const Matmul& args, QuantKind kind) {
  return !recording.target.cpu && recording.max_rows > 1 && args.rows == Rows::all && args.quantised &&
         !levels_parts(kind).empty();
}

void record_quantised_input(gpu::Recording& recording, std::string_view name, const Matmul& args) {
  quantise_input(recording, std::string(name) + " in whole numbers",
                 {.dim = args.weights.dim, .step = args.step, .x = args.x, .out = *args.quantised});
}

void record_integer_tiles(gpu::Recording& recording, std::string_view name, const Matmul& args,
                          const MatrixPart& part, const MatmulShape& whole_shape) {
  MatmulShape shape = whole_shape;
  shape.planes = input_planes(recording.target);
  const std::uint32_t n_mats = shape.epilogue == Epilogue::swiglu ? 2 : 1;
  const Tile tile = choose_tile(recording.max_rows, shape.n_out * n_mats);
  gpu::Op op = {
      .name = std::string(name),
      .program = {.body = "matmul_gpu_integer",
                  .parts = levels_parts(shape.kind),
                  .consts = matmul_consts(shape)},
      .bindings = matmul_bindings(args, part),
      .grid = {.x = div_up(shape.n_out, tile.columns / n_mats),
               .rows_axis = gpu::Grid::Axis::y,
               .rows_per_workgroup = tile.rows},
      .oracle = [shape](std::span<const gpu::HostView> views) { matmul_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
  };
  op.program.parts.insert(op.program.parts.end(), {"step", "rows_of_matrix", epilogue_part(shape.epilogue)});
  for (const auto& [constant, value] : {std::pair{"N_OUT", shape.n_out},
                                        {"PLANES", shape.planes},
                                        {"TILE_ROWS", tile.rows},
                                        {"TILE_COLUMNS", tile.columns},
                                        {"THREAD_ROWS", tile.thread_rows},
                                        {"THREAD_COLUMNS", tile.thread_columns},
                                        {"TEAMS", tile.teams},
                                        {"STAGE", tile.stage}}) {
    op.program.consts.push_back(gpu::const_u32(constant, value));
  }
  op.bindings[3].tensor = args.quantised->bytes;
  op.bindings.push_back({args.quantised->scales, gpu::Access::read});
  recording.ops.push_back(std::move(op));
}

}  // namespace ztvm::kernels
