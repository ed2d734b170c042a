#include "kernels/sigmoid_gate/sigmoid_gate.hpp"

namespace ztvm::kernels {

void sigmoid_gate(gpu::Recording& recording, std::string_view name, const SigmoidGate& args) {
  using gpu::Access;
  check(args.first + args.dim <= args.x_stride, "the gate lies inside a row of x");
  const SigmoidGateShape shape = {.dim = args.dim, .x_stride = args.x_stride, .first = args.first};
  const std::uint32_t workgroup = recording.target.cpu ? 8 : 64;
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = "sigmoid_gate",
                  .parts = {"step", "gates"},
                  .consts = {gpu::const_u32("DIM", shape.dim), gpu::const_u32("X_STRIDE", shape.x_stride),
                             gpu::const_u32("FIRST", shape.first), gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.step, Access::read}, {args.x, Access::read}, {args.mixed, Access::read_write}},
      .grid = {.x = div_up(shape.dim, workgroup), .rows_axis = gpu::Grid::Axis::y},
      .oracle = [shape](std::span<const gpu::HostView> views) { sigmoid_gate_reference(views, shape); },
      // exp, two roundings and a division, none of which cancels.
      .tolerance = gpu::sum_tolerance(4, args.mixed.dtype),
  });
}

}  // namespace ztvm::kernels
