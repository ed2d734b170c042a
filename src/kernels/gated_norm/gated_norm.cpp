#include "kernels/gated_norm/gated_norm.hpp"

#include <algorithm>
#include <bit>

namespace ztvm::kernels {

void gated_norm(gpu::Recording& recording, std::string_view name, const GatedNorm& args) {
  using gpu::Access;
  const gpu::Target& target = recording.target;
  const GatedNormShape shape = {.n_heads = args.n_heads,
                                .head_dim = args.head_dim,
                                .x_stride = args.x_stride,
                                .first = args.first,
                                .eps = args.eps};
  check(shape.first + shape.n_heads * shape.head_dim <= shape.x_stride, "z lies inside a row of x");
  const std::uint32_t workgroup = target.cpu ? 8 : std::clamp(std::bit_ceil(shape.head_dim), 32u, 256u);
  gpu::Program program = {
      .body = target.cpu ? "gated_norm_cpu" : "gated_norm_gpu",
      .parts = {"step", "gates"},
      .consts = {gpu::const_u32("N_HEADS", shape.n_heads), gpu::const_u32("HEAD_DIM", shape.head_dim),
                 gpu::const_u32("X_STRIDE", shape.x_stride), gpu::const_u32("FIRST", shape.first),
                 gpu::const_f32("EPS", shape.eps), gpu::const_u32("WORKGROUP", workgroup)}};
  if (!target.cpu) program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = {{args.step, Access::read},
                   {args.o, Access::read},
                   {args.x, Access::read},
                   {args.weight, Access::read},
                   {args.out, Access::read_write}},
      .grid = {.x = target.cpu ? div_up(shape.n_heads, workgroup) : shape.n_heads,
               .rows_axis = gpu::Grid::Axis::y},
      .oracle = [shape](std::span<const gpu::HostView> views) { gated_norm_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(shape.head_dim, args.out.dtype),
  });
}

}  // namespace ztvm::kernels
