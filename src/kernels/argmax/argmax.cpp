#include "kernels/argmax/argmax.hpp"

namespace ztvm::kernels {

void argmax(gpu::Recording& recording, const Argmax& args) {
  using gpu::Access;
  const std::uint32_t n_blocks = div_up(args.n_valid, k_argmax_block);
  const std::uint32_t workgroup = recording.target.cpu ? 8 : 32;
  recording.ops.push_back({
      .name = "argmax",
      .program = {.body = "argmax",
                  .parts = {},
                  .consts = {gpu::const_u32("N_VALID", args.n_valid), gpu::const_u32("BLOCK", k_argmax_block),
                             gpu::const_u32("N_BLOCKS", n_blocks), gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.logits, Access::read}, {args.candidates, Access::read_write}},
      .grid = {.x = div_up(n_blocks, workgroup)},
      .oracle = [n = args.n_valid](std::span<const gpu::HostView> views) { argmax_reference(views, n); },
  });
  recording.ops.push_back({
      .name = "argmax final",
      .program = {.body = "argmax_final", .parts = {"step"}, .consts = {gpu::const_u32("N_BLOCKS", n_blocks)}},
      .bindings = {{args.candidates, Access::read}, {args.step, Access::read_write}},
      .grid = {},
      .oracle = [n_blocks](std::span<const gpu::HostView> views) { argmax_final_reference(views, n_blocks); },
  });
}

}  // namespace ztvm::kernels
