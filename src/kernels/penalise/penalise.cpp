#include "kernels/penalise/penalise.hpp"

namespace ztvm::kernels {

void penalise(gpu::Recording& recording, const Penalise& args) {
  using gpu::Access;
  const std::uint32_t workgroup = 64;
  recording.ops.push_back({
      .name = "penalise",
      .program = {.body = "penalise",
                  .parts = {"step"},
                  .consts = {gpu::const_u32("N_VALID", args.n_valid),
                             gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.step, Access::read}, {args.seen, Access::read}, {args.logits, Access::read_write}},
      .grid = {.x = div_up(args.n_valid, workgroup)},
      .oracle = [n = args.n_valid](std::span<const gpu::HostView> views) { penalise_reference(views, n); },
      .tolerance = gpu::sum_tolerance(1, gpu::Dtype::f32),
  });
}

}  // namespace ztvm::kernels
