#include "kernels/rms_norm/rms_norm.hpp"

namespace ztvm::kernels {

void rms_norm(gpu::Recording& recording, std::string_view name, const RmsNorm& args) {
  using gpu::Access;
  const gpu::Target& target = recording.target;
  const bool quads = !target.cpu && args.dim % 4 == 0;
  const std::uint32_t workgroup = target.cpu ? 1 : args.dim >= 1024 ? 256 : 128;
  gpu::Grid grid;
  if (args.rows == Rows::all) grid = {.rows_axis = gpu::Grid::Axis::x, .rows_per_workgroup = 1};
  gpu::Program program = {.body = target.cpu ? "rms_norm_cpu"
                                  : quads    ? "rms_norm_gpu_quads"
                                             : "rms_norm_gpu",
                          .parts = {"step", args.rows == Rows::all ? "rows_all" : "rows_last"},
                          .consts = {gpu::const_u32("DIM", args.dim), gpu::const_f32("EPS", args.eps),
                                     gpu::const_u32("WORKGROUP", workgroup)}};
  if (!target.cpu) program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = {{args.step, Access::read},
                   {args.x, Access::read},
                   {args.weight, Access::read},
                   {args.out, Access::read_write}},
      .grid = grid,
      .oracle = [dim = args.dim, eps = args.eps, rows = args.rows](
                    std::span<const gpu::HostView> views) { rms_norm_reference(views, dim, eps, rows); },
      .tolerance = gpu::sum_tolerance(args.dim, args.out.dtype),
  });
}

}  // namespace ztvm::kernels
