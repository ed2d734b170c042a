#include "kernels/route/route.hpp"

namespace ztvm::kernels {

void route(gpu::Recording& recording, std::string_view name, const Route& args) {
  using gpu::Access;
  check(args.n_experts <= k_max_experts, "a router has at most 1024 experts");
  check(args.top_k >= 1 && args.top_k <= k_max_top_k && args.top_k <= args.n_experts,
        "a router chooses 1 to 16 of its experts");
  check(args.stride >= args.n_experts, "a row of logits holds every expert");
  const gpu::Target& target = recording.target;
  const std::uint32_t workgroup = target.cpu ? 8 : 256;
  const RouteShape shape = {.n_experts = args.n_experts, .top_k = args.top_k, .stride = args.stride};
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = target.cpu ? "route_cpu" : "route_gpu",
                  .parts = {"step", "route_keys"},
                  .consts = {gpu::const_u32("N_EXPERTS", args.n_experts), gpu::const_u32("TOP_K", args.top_k),
                             gpu::const_u32("STRIDE", args.stride), gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.step, Access::read},
                   {args.logits, Access::read},
                   {args.ids, Access::read_write},
                   {args.weights, Access::read_write}},
      .grid = {.rows_axis = gpu::Grid::Axis::x, .rows_per_workgroup = target.cpu ? workgroup : 1},
      .oracle = [shape](std::span<const gpu::HostView> views) { route_reference(views, shape); },
      // exp(x) is within 3 + 2 |x| ulp by WGSL's rules, which for x <= 0 is at most 3 ulp of 1; it stands above and
      // below a quotient that is within 2.5 ulp itself. Twice the tolerance of the sum below covers them.
      .tolerance = 2.0f * gpu::sum_tolerance(args.top_k, gpu::Dtype::f32),
  });
}

}  // namespace ztvm::kernels
