#include "kernels/argmax/argmax.hpp"

namespace ztvm::kernels {

void find_block_maxima(gpu::Recording& recording, const BlockMaxima& args) {
  using gpu::Access;
  const std::uint32_t n_blocks = div_up(args.n_valid, args.block);
  const std::uint32_t workgroup = recording.target.cpu ? 8 : 32;
  recording.ops.push_back({
      .name = std::string(args.name),
      .program = {.body = "argmax",
                  .parts = {},
                  .consts = {gpu::const_u32("N_VALID", args.n_valid), gpu::const_u32("BLOCK", args.block),
                             gpu::const_u32("N_BLOCKS", n_blocks), gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.logits, Access::read}, {args.candidates, Access::read_write}},
      .grid = {.x = div_up(n_blocks, workgroup)},
      .oracle = [n = args.n_valid, block = args.block](
                    std::span<const gpu::HostView> views) { block_maxima_reference(views, n, block); },
  });
}

void argmax(gpu::Recording& recording, const Argmax& args) {
  using gpu::Access;
  const std::uint32_t n_blocks = div_up(args.n_valid, k_argmax_block);
  find_block_maxima(recording, {.name = "argmax",
                                .n_valid = args.n_valid,
                                .block = k_argmax_block,
                                .logits = args.logits,
                                .candidates = args.candidates});
  recording.ops.push_back({
      .name = "argmax final",
      .program = {.body = recording.target.cpu ? "argmax_final" : "argmax_final_gpu",
                  .parts = {"step"},
                  .consts = {gpu::const_u32("N_BLOCKS", n_blocks), gpu::const_u32("WORKGROUP", 256)}},
      .bindings = {{args.candidates, Access::read}, {args.step, Access::read_write}},
      .grid = {},
      .oracle = [n_blocks](std::span<const gpu::HostView> views) { argmax_final_reference(views, n_blocks); },
  });
}

}  // namespace ztvm::kernels
