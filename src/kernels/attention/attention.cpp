#include "kernels/attention/attention.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ztvm::kernels {

namespace {

// Threads of the CPU set: the query heads of one kv head, of as many rows as fill eight vector lanes.
struct CpuGroup {
  std::uint32_t n_heads = 1;
  std::uint32_t n_rows = 1;
};

CpuGroup cpu_group(const AttentionShape& shape) {
  constexpr std::uint32_t k_lanes = 8;
  const std::uint32_t n_heads = shape.n_heads / shape.n_kv_heads;
  return {.n_heads = n_heads, .n_rows = std::max(1u, k_lanes / n_heads)};
}

gpu::Program make_program(const gpu::Target& target, const AttentionShape& shape) {
  const CpuGroup group = cpu_group(shape);
  const std::uint32_t workgroup =
      target.cpu ? group.n_heads * group.n_rows : std::max(64u, std::bit_ceil(shape.head_dim));
  gpu::Program program = {
      .body = target.cpu ? "attention_cpu" : "attention_gpu",
      .parts = {"step", "kv_pages"},
      .consts = {gpu::const_u32("N_HEADS", shape.n_heads), gpu::const_u32("N_KV_HEADS", shape.n_kv_heads),
                 gpu::const_u32("HEAD_DIM", shape.head_dim),
                 gpu::const_f32("SCALE", 1.0f / std::sqrt(static_cast<float>(shape.head_dim))),
                 gpu::const_u32("WORKGROUP", workgroup)}};
  if (target.cpu) {
    program.consts.push_back(gpu::const_u32("GROUP", group.n_heads));
    program.consts.push_back(gpu::const_u32("ROWS", group.n_rows));
  } else {
    program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  }
  return program;
}

gpu::Grid make_grid(const gpu::Target& target, const AttentionShape& shape) {
  if (!target.cpu) return {.x = shape.n_heads, .rows_axis = gpu::Grid::Axis::y};
  return {.x = shape.n_kv_heads, .rows_axis = gpu::Grid::Axis::y, .rows_per_workgroup = cpu_group(shape).n_rows};
}

}  // namespace

void attention(gpu::Recording& recording, std::string_view name, const Attention& args) {
  using gpu::Access;
  const AttentionShape& shape = args.shape;
  recording.ops.push_back({
      .name = std::string(name),
      .program = make_program(recording.target, shape),
      .bindings = {{args.step, Access::read},
                   {args.q, Access::read},
                   {args.keys, Access::read},
                   {args.values, Access::read},
                   {args.pages, Access::read},
                   {args.out, Access::read_write}},
      .grid = make_grid(recording.target, shape),
      .oracle = [shape](std::span<const gpu::HostView> views) { attention_reference(views, shape); },
      // Scores may be large, and exp turns their absolute error into a relative one.
      .tolerance = 8.0f * gpu::sum_tolerance(shape.head_dim, args.out.dtype),
  });
}

}  // namespace ztvm::kernels
