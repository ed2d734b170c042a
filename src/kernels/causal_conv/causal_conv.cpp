#include "kernels/causal_conv/causal_conv.hpp"

namespace ztvm::kernels {

void causal_conv(gpu::Recording& recording, std::string_view name, const CausalConv& args) {
  using gpu::Access;
  constexpr std::uint32_t k_tile = 16;  // rows; many enough that the taps' loads don't count
  check(args.width >= 2 && args.width <= 8, "a convolution has 2 to 8 taps");
  check(args.first + args.channels <= args.x_stride, "the channels lie inside a row of x");
  const CausalConvShape shape = {
      .channels = args.channels, .width = args.width, .x_stride = args.x_stride, .first = args.first};
  const std::uint32_t workgroup = recording.target.cpu ? 8 : 64;
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = "causal_conv",
                  .parts = {"step", "gates"},
                  .consts = {gpu::const_u32("CHANNELS", shape.channels), gpu::const_u32("WIDTH", shape.width),
                             gpu::const_u32("X_STRIDE", shape.x_stride), gpu::const_u32("FIRST", shape.first),
                             gpu::const_u32("TILE", k_tile), gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.step, Access::read},
                   {args.x, Access::read},
                   {args.weight, Access::read},
                   {args.state, Access::read_write},
                   {args.out, Access::read_write}},
      .grid = {.x = div_up(shape.channels, workgroup),
               .rows_axis = gpu::Grid::Axis::y,
               .rows_per_workgroup = k_tile},
      .oracle = [shape](std::span<const gpu::HostView> views) { causal_conv_reference(views, shape); },
      // 4 for SiLU: exp, a sum, a division and a product.
      .tolerance = gpu::sum_tolerance(shape.width + 4, args.out.dtype),
  });
}

}  // namespace ztvm::kernels
