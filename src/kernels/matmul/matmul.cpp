#include "kernels/matmul/matmul.hpp"

#include <algorithm>

namespace ztvm::kernels {
namespace {

std::string_view epilogue_part(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::store: return "finish_store";
    case Epilogue::store_f32: return "finish_f32";
    case Epilogue::add_residual: return "finish_residual";
    case Epilogue::swiglu: return "finish_swiglu";
  }
  return {};
}

gpu::Program make_program(const gpu::Target& target, const MatmulShape& shape, std::uint32_t tile,
                          std::uint32_t workgroup) {
  const bool pair = shape.epilogue == Epilogue::swiglu;
  gpu::Program program = {
      .body = target.cpu ? "matmul_cpu" : "matmul_gpu",
      .parts = {"step", shape.rows == Rows::all ? "rows_all" : "rows_last", weights_part(shape.kind),
                epilogue_part(shape.epilogue)},
      .consts = {gpu::const_u32("N_GROUPS", shape.dim / k_quant_group), gpu::const_u32("N_OUT", shape.n_out),
                 gpu::const_u32("N_MATS", pair ? 2 : 1), gpu::const_u32("PAIR_OFFSET", pair ? shape.n_out : 0),
                 gpu::const_u32("OUT_STRIDE", shape.out_stride), gpu::const_u32("OUT_FIRST", shape.out_first),
                 gpu::const_u32("TILE", tile), gpu::const_u32("WORKGROUP", workgroup)}};
  if (!target.cpu) program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  return program;
}

}  // namespace

std::uint32_t matmul_tile(std::uint32_t max_rows) { return max_rows >= 4 ? 4 : 1; }

void matmul(gpu::Recording& recording, std::string_view name, const Matmul& args) {
  using gpu::Access;
  const bool pair = args.epilogue == Epilogue::swiglu;
  check(!pair || args.weights.parts.size() == 1, "gate and up are in one part");
  const std::uint32_t tile = args.rows == Rows::all ? matmul_tile(recording.max_rows) : 1;
  const std::uint32_t workgroup = recording.target.cpu ? 16 : 64;
  for (const MatrixPart& part : args.weights.parts) {
    const MatmulShape shape = {.kind = args.weights.kind,
                               .dim = args.weights.dim,
                               .n_out = pair ? part.n_rows / 2 : part.n_rows,
                               .out_stride = pair ? args.weights.rows / 2 : args.weights.rows,
                               .out_first = part.first_row,
                               .epilogue = args.epilogue,
                               .rows = args.rows};
    const std::uint32_t n_workgroups = recording.target.cpu ? div_up(shape.n_out, workgroup) : shape.n_out;
    const gpu::Grid linear = gpu::linear_grid(n_workgroups);
    gpu::Grid grid = {.x = linear.x, .y = 1, .z = linear.y};
    if (args.rows == Rows::all) {
      grid.rows_axis = gpu::Grid::Axis::y;
      grid.rows_per_workgroup = tile;
    }
    recording.ops.push_back({
        .name = std::string(name),
        .program = make_program(recording.target, shape, tile, workgroup),
        .bindings = {{part.words, Access::read},
                     {part.scales, Access::read},
                     {args.step, Access::read},
                     {args.x, Access::read},
                     {args.out, Access::read_write}},
        .grid = grid,
        .oracle = [shape](std::span<const gpu::HostView> views) { matmul_reference(views, shape); },
        .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
    });
  }
}

}  // namespace ztvm::kernels
