#include "kernels/combine/combine.hpp"

namespace ztvm::kernels {

void combine(gpu::Recording& recording, std::string_view name, const Combine& args) {
  using gpu::Access;
  check(args.dim % 4 == 0, "the residual stream has whole quads");
  const std::uint32_t workgroup = recording.target.cpu ? 16 : 64;
  CombineShape shape = {.dim = args.dim, .top_k = args.top_k};
  gpu::Program program = {
      .body = "combine",
      .parts = {"step", args.shared ? "combine_shared" : "combine_experts_only"},
      .consts = {gpu::const_u32("QUADS", args.dim / 4), gpu::const_u32("TOP_K", args.top_k),
                 gpu::const_u32("WORKGROUP", workgroup)}};
  std::vector<gpu::Binding> bindings = {{args.step, Access::read},
                                        {args.weights, Access::read},
                                        {args.down, Access::read},
                                        {args.x, Access::read_write}};
  if (args.shared) {
    check(args.shared->gate_column < args.shared->stride, "the gate is a column of the logits");
    shape.has_shared = true;
    shape.stride = args.shared->stride;
    shape.gate_column = args.shared->gate_column;
    program.consts.push_back(gpu::const_u32("STRIDE", shape.stride));
    program.consts.push_back(gpu::const_u32("GATE_COLUMN", shape.gate_column));
    bindings.push_back({args.shared->logits, Access::read});
    bindings.push_back({args.shared->shared, Access::read});
  }
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = std::move(bindings),
      .grid = {.x = div_up(args.dim / 4, workgroup), .rows_axis = gpu::Grid::Axis::y},
      .oracle = [shape](std::span<const gpu::HostView> views) { combine_reference(views, shape); },
      // exp(-gate) is within 3 + 2 |gate| ulp and the quotient within 2.5 ulp, by WGSL's rules: the sigmoid is within
      // 5 ulp of 1, and counts like the rounding of five more terms.
      .tolerance = gpu::sum_tolerance(args.top_k + 6, gpu::Dtype::f32),
  });
}

}  // namespace ztvm::kernels
