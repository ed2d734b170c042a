#include "kernels/group_experts/group_experts.hpp"

namespace ztvm::kernels {

void group_experts(gpu::Recording& recording, std::string_view name, const GroupExperts& args) {
  using gpu::Access;
  const gpu::Target& target = recording.target;
  // A thread of the CPU set looks at every pair twice, and llvmpipe ends its loops after 65,535 rounds in all.
  check(!target.cpu || recording.max_rows * args.top_k <= 32'000, "a pass has at most 32,000 pairs");
  const std::uint32_t workgroup = target.cpu ? 8 : 64;
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = target.cpu ? "group_experts_cpu" : "group_experts_gpu",
                  .parts = {"step"},
                  .consts = {gpu::const_u32("N_EXPERTS", args.n_experts), gpu::const_u32("TOP_K", args.top_k),
                             gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.step, Access::read},
                   {args.ids, Access::read},
                   {args.offsets, Access::read_write},
                   {args.order, Access::read_write}},
      .grid = {.x = target.cpu ? div_up(args.n_experts, workgroup) : args.n_experts},
      .oracle =
          [n_experts = args.n_experts, top_k = args.top_k](std::span<const gpu::HostView> views) {
            group_experts_reference(views, n_experts, top_k);
          },
  });
}

}  // namespace ztvm::kernels
