#include "kernels/expert_matmul/expert_matmul.hpp"

#include <algorithm>

#include "kernels/expert_matmul/expert_matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

// Outputs of one column that share a weight row; a workgroup of the GPU set makes four outputs either way.
std::uint32_t pair_tile(const ExpertMatmulShape& shape) { return shape.by_group ? 4 : 1; }
std::uint32_t column_tile(const ExpertMatmulShape& shape) { return 4 / pair_tile(shape); }

// Pairs of an expert that one workgroup goes through. llvmpipe ends the loops of a thread after 65,535 rounds in all.
std::uint32_t pairs_per_workgroup(const gpu::Recording& recording, const ExpertMatmulShape& shape) {
  if (!recording.target.cpu) return recording.max_rows;
  const std::uint32_t tile = pair_tile(shape);
  const std::uint32_t rounds_per_group = 1 + n_mats(shape) * (1 + 4 * (1 + tile));
  const std::uint32_t rounds_per_tile = shape.dim / k_quant_group * rounds_per_group + 2 * tile + 1;
  return tile * std::max(1u, 60'000 / rounds_per_tile);
}

gpu::Program make_program(const gpu::Recording& recording, const ExpertMatmulShape& shape) {
  const gpu::Target& target = recording.target;
  gpu::Program program = {
      .body = target.cpu ? "expert_matmul_cpu" : "expert_matmul_gpu",
      .parts = {"step", shape.by_group ? "pairs_by_group" : "pairs_by_slot", "quads",
                weights_part(shape.kind),
                shape.epilogue == Epilogue::swiglu ? "finish_swiglu" : "finish_f32"},
      .consts = {gpu::const_u32("N_GROUPS", shape.dim / k_quant_group), gpu::const_u32("N_OUT", shape.n_out),
                 gpu::const_u32("N_MATS", n_mats(shape)), gpu::const_u32("OUT_STRIDE", shape.n_out),
                 gpu::const_u32("OUT_FIRST", 0), gpu::const_u32("FIRST_EXPERT", shape.first_expert),
                 gpu::const_u32("N_EXPERTS", shape.n_experts), gpu::const_u32("TOP_K", shape.top_k),
                 gpu::const_u32("PAIRS_PER_X", shape.input == ExpertInput::rows ? shape.top_k : 1),
                 gpu::const_u32("TILE", pair_tile(shape)),
                 gpu::const_u32("WORKGROUP", target.cpu ? 16 : 64)}};
  if (shape.by_group) {
    program.consts.push_back(gpu::const_u32("MAX_PAIRS", pairs_per_workgroup(recording, shape)));
  }
  if (!target.cpu) {
    program.consts.push_back(gpu::const_u32("COLUMNS", column_tile(shape)));
    program.parts.push_back(target.subgroups ? "reduce4_subgroup" : "reduce4_workgroup");
  }
  return program;
}

gpu::Grid make_grid(const gpu::Recording& recording, const ExpertMatmulShape& shape) {
  gpu::Grid grid = {.x = div_up(shape.n_out, recording.target.cpu ? 16 : column_tile(shape))};
  check(grid.x <= gpu::k_max_axis, "the columns of an expert fit one grid axis");
  if (shape.by_group) {
    grid.y = shape.n_experts;
    grid.rows_axis = gpu::Grid::Axis::z;  // an expert has at most one pair of each row
    grid.rows_per_workgroup = pairs_per_workgroup(recording, shape);
  } else {
    grid.z = shape.top_k;
    grid.rows_axis = gpu::Grid::Axis::y;
  }
  return grid;
}

void record_part(gpu::Recording& recording, std::string_view name, const ExpertMatmul& args,
                 const MatrixPart& part, const ExpertMatmulShape& shape) {
  using gpu::Access;
  std::vector<gpu::Binding> bindings = {{part.words, Access::read},
                                        {part.scales, Access::read},
                                        {args.step, Access::read},
                                        {args.x, Access::read},
                                        {args.out, Access::read_write}};
  if (shape.by_group) {
    bindings.push_back({args.groups->offsets, Access::read});
    bindings.push_back({args.groups->order, Access::read});
  } else {
    bindings.push_back({args.ids, Access::read});
  }
  recording.ops.push_back({
      .name = std::string(name),
      .program = make_program(recording, shape),
      .bindings = std::move(bindings),
      .grid = make_grid(recording, shape),
      .oracle = [shape](std::span<const gpu::HostView> views) { expert_matmul_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
  });
}

}  // namespace

bool should_group_experts(std::uint32_t max_rows, std::uint32_t n_experts, std::uint32_t top_k) {
  return max_rows > 1 && max_rows * top_k >= n_experts;
}

void expert_matmul(gpu::Recording& recording, std::string_view name, const ExpertMatmul& args) {
  const bool pair = args.epilogue == Epilogue::swiglu;
  check(pair || args.epilogue == Epilogue::store_f32, "the epilogue of experts is swiglu or store_f32");
  check(args.n_experts > 0 && args.weights.rows % args.n_experts == 0, "experts have the same rows");
  const std::uint32_t expert_rows = args.weights.rows / args.n_experts;
  check(!pair || expert_rows % 2 == 0, "gate and up have the same rows");
  const auto integer_tiles = [&](const MatrixPart& part) {
    return takes_integer_experts(recording, args, part.kind);
  };
  if (std::ranges::any_of(args.weights.parts, integer_tiles)) record_quantised_pairs(recording, name, args);
  for (const MatrixPart& part : args.weights.parts) {
    check(part.first_row % expert_rows == 0 && part.n_rows % expert_rows == 0, "parts hold whole experts");
    const ExpertMatmulShape shape = {.kind = part.kind,
                                     .dim = args.weights.dim,
                                     .n_out = pair ? expert_rows / 2 : expert_rows,
                                     .first_expert = part.first_row / expert_rows,
                                     .n_experts = part.n_rows / expert_rows,
                                     .top_k = args.top_k,
                                     .epilogue = args.epilogue,
                                     .input = args.input,
                                     .by_group = args.groups.has_value()};
    if (integer_tiles(part)) {
      record_integer_experts(recording, name, args, part, shape);
    } else {
      record_part(recording, name, args, part, shape);
    }
  }
}

}  // namespace ztvm::kernels
