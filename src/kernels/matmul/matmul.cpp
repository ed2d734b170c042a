#include "kernels/matmul/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/matmul/matmul_forms.hpp"
#include "kernels/rms_norm/rms_norm.hpp"

namespace ztvm::kernels {

std::string_view epilogue_part(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::store: return "finish_store";
    case Epilogue::store_f32: return "finish_f32";
    case Epilogue::add_residual: return "finish_residual";
    case Epilogue::swiglu: return "finish_swiglu";
  }
  return {};
}

std::string describe(const MatmulShape& shape, std::uint32_t max_rows) {
  std::string text = fmt::format("matmul of {} row{}, {}, {}{} x {}", max_rows, max_rows == 1 ? "" : "s",
                                 to_string(shape.kind), shape.epilogue == Epilogue::swiglu ? "2 x " : "",
                                 shape.n_out, shape.dim);
  if (shape.normed) text += ", normed";
  if (shape.rows == Rows::last) text += ", last row";
  return text;
}

std::vector<gpu::Const> matmul_consts(const MatmulShape& shape) {
  const bool pair = shape.epilogue == Epilogue::swiglu;
  return {gpu::const_u32("N_GROUPS", shape.dim / k_quant_group), gpu::const_u32("N_MATS", pair ? 2 : 1),
          gpu::const_u32("PAIR_OFFSET", pair ? shape.n_out : 0),
          gpu::const_u32("OUT_STRIDE", shape.out_stride), gpu::const_u32("OUT_FIRST", shape.out_first)};
}

gpu::Op matmul_op(std::string_view name, const Matmul& args, const MatrixPart& part,
                  const MatmulShape& shape) {
  using gpu::Access;
  return {.name = std::string(name),
          .program = {},
          .bindings = {{part.words, Access::read},
                       {part.scales, Access::read},
                       {args.step, Access::read},
                       {args.x, Access::read},
                       {args.out, Access::read_write}},
          .grid = {},
          .oracle = [shape](std::span<const gpu::HostView> views) { matmul_reference(views, shape); },
          .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype)};
}

namespace {

constexpr std::uint32_t k_matmul_tile_rows = 128;  // TILE of matmul_gpu_tiles
constexpr std::uint32_t k_tile_min_rows = 32;      // of a recording, for that form to pay
constexpr std::uint32_t k_workgroup_columns = 8;   // weight rows of a workgroup of matmul_gpu_columns

// Whether a GPU takes several columns a workgroup: for many rows of a pass.
bool is_many_rows(const gpu::Recording& recording, const Matmul& args) {
  return !recording.target.cpu && args.rows == Rows::all && recording.max_rows >= k_tile_min_rows;
}

// Many rows: tiles of both, or where those are few, eight columns of four rows. Returns the rows of a workgroup.
std::uint32_t add_many_rows_form(gpu::Op& op, const gpu::Recording& recording, const MatmulShape& shape) {
  const std::uint32_t n_mats = shape.epilogue == Epilogue::swiglu ? 2 : 1;
  op.grid.x = div_up(shape.n_out, k_matmul_tile_rows / n_mats);
  if (op.grid.x * div_up(recording.max_rows, k_matmul_tile_rows) >= k_min_tiles) {
    op.program.body = "matmul_gpu_tiles";
    op.program.parts.push_back("weight_row");
    return k_matmul_tile_rows;
  }
  const std::uint32_t tile = matmul_tile(recording.max_rows);
  const std::uint32_t columns = k_workgroup_columns / n_mats;
  op.program.body = "matmul_gpu_columns";
  op.program.parts.push_back(recording.target.subgroups ? "reduce4_subgroup" : "reduce4_workgroup");
  op.program.consts.insert(
      op.program.consts.end(),
      {gpu::const_u32("TILE", tile), gpu::const_u32("WORKGROUP", 64), gpu::const_u32("COLUMNS", columns)});
  op.grid.x = div_up(shape.n_out, columns);
  return tile;
}

// A column of a tile of rows: a thread's on the CPU set, a workgroup's on the GPU set. Returns the rows of a workgroup.
std::uint32_t add_column_form(gpu::Op& op, const gpu::Recording& recording, const MatmulShape& shape) {
  const gpu::Target& target = recording.target;
  const std::uint32_t tile = shape.rows == Rows::all ? matmul_tile(recording.max_rows) : 1;
  const std::uint32_t workgroup = target.cpu ? 16 : 64;
  op.program.body = target.cpu ? "matmul_cpu" : "matmul_gpu";
  op.program.consts.push_back(gpu::const_u32("TILE", tile));
  op.program.consts.push_back(gpu::const_u32("WORKGROUP", workgroup));
  if (!target.cpu) op.program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  const gpu::Grid linear = gpu::linear_grid(target.cpu ? div_up(shape.n_out, workgroup) : shape.n_out);
  op.grid = {.x = linear.x, .y = 1, .z = linear.y};
  return tile;
}

// Any number of rows, in f32.
void record_rows(gpu::Recording& recording, std::string_view name, const Matmul& args, const MatrixPart& part,
                 const MatmulShape& shape) {
  gpu::Op op = matmul_op(name, args, part, shape);
  op.program = {.body = {},
                .parts = {"step", shape.rows == Rows::all ? "rows_all" : "rows_last", "quads",
                          weights_part(shape.kind), epilogue_part(shape.epilogue)},
                .consts = matmul_consts(shape)};
  op.program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  const std::uint32_t rows_per_workgroup = is_many_rows(recording, args)
                                               ? add_many_rows_form(op, recording, shape)
                                               : add_column_form(op, recording, shape);
  if (args.rows == Rows::all) {
    op.grid.rows_axis = gpu::Grid::Axis::y;
    op.grid.rows_per_workgroup = rows_per_workgroup;
  }
  recording.ops.push_back(std::move(op));
}

// The norm as an op of its own, for forms that do not take it along.
Matmul record_norm_apart(gpu::Recording& recording, const Matmul& args) {
  const InputNorm& norm = *args.norm;
  rms_norm(recording, norm.name,
           {.dim = args.weights.dim,
            .eps = norm.eps,
            .rows = args.rows,
            .step = args.step,
            .x = args.x,
            .weight = norm.weight,
            .out = norm.normed});
  Matmul rest = args;
  rest.x = norm.normed;
  rest.norm = std::nullopt;
  return rest;
}

}  // namespace

std::uint32_t matmul_tile(std::uint32_t max_rows) { return max_rows >= 4 ? 4 : 1; }

void matmul(gpu::Recording& recording, std::string_view name, const Matmul& args) {
  const bool gpu_row = is_gpu_row(recording, args);
  if (args.norm && !(gpu_row && gpu_row_takes_norm(args.weights))) {
    return matmul(recording, name, record_norm_apart(recording, args));
  }
  const auto matrix_tiles = [&](const MatrixPart& part) {
    return takes_matrix_tiles(recording, args, part.kind);
  };
  const auto integer_tiles = [&](const MatrixPart& part) {
    return !matrix_tiles(part) && takes_integer_tiles(recording, args, part.kind);
  };
  if (std::ranges::any_of(args.weights.parts, integer_tiles)) record_quantised_input(recording, name, args);
  const bool pair = args.epilogue == Epilogue::swiglu;
  for (const MatrixPart& part : args.weights.parts) {
    const MatmulShape shape = {.kind = part.kind,
                               .dim = args.weights.dim,
                               .n_elements = args.weights.dim,
                               .n_out = pair ? part.n_rows / 2 : part.n_rows,
                               .out_stride = pair ? args.weights.rows / 2 : args.weights.rows,
                               .out_first = pair ? part.first_row / 2 : part.first_row,
                               .epilogue = args.epilogue,
                               .rows = args.rows,
                               .normed = args.norm.has_value(),
                               .norm_eps = args.norm ? args.norm->eps : 0.0f};
    if (record_cpu_rows4(recording, name, args, part, shape)) continue;
    if (gpu_row) {
      record_gpu_row(recording, name, args, part, shape);
    } else if (matrix_tiles(part)) {
      record_matrix_tiles(recording, name, args, part, shape);
    } else if (integer_tiles(part)) {
      record_integer_tiles(recording, name, args, part, shape);
    } else {
      record_rows(recording, name, args, part, shape);
    }
  }
}

}  // namespace ztvm::kernels
