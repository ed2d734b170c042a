#include "kernels/attention/attention.hpp"

#include <bit>
#include <cmath>

namespace ztvm::kernels {

void attention(gpu::Recording& recording, std::string_view name, const Attention& args) {
  using gpu::Access;
  const gpu::Target& target = recording.target;
  const AttentionShape& shape = args.shape;
  const std::uint32_t workgroup = target.cpu ? 8 : std::max(64u, std::bit_ceil(shape.head_dim));
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  gpu::Program program = {
      .body = target.cpu ? "attention_cpu" : "attention_gpu",
      .parts = {"step", "kv_pages"},
      .consts = {gpu::const_u32("N_HEADS", shape.n_heads), gpu::const_u32("N_KV_HEADS", shape.n_kv_heads),
                 gpu::const_u32("HEAD_DIM", shape.head_dim), gpu::const_f32("SCALE", scale),
                 gpu::const_u32("WORKGROUP", workgroup)}};
  if (!target.cpu) program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = {{args.step, Access::read},
                   {args.q, Access::read},
                   {args.keys, Access::read},
                   {args.values, Access::read},
                   {args.pages, Access::read},
                   {args.out, Access::read_write}},
      .grid = {.x = target.cpu ? div_up(shape.n_heads, workgroup) : shape.n_heads,
               .rows_axis = gpu::Grid::Axis::y},
      .oracle = [shape](std::span<const gpu::HostView> views) { attention_reference(views, shape); },
      // Scores may be large, and exp turns their absolute error into a relative one.
      .tolerance = 8.0f * gpu::sum_tolerance(shape.head_dim, args.out.dtype),
  });
}

}  // namespace ztvm::kernels
