#include "kernels/advance/advance.hpp"

namespace ztvm::kernels {

void advance(gpu::Recording& recording, const Advance& args) {
  using gpu::Access;
  recording.ops.push_back({
      .name = "advance",
      .program = {.body = "advance", .parts = {"step"}, .consts = {}},
      .bindings = {{args.step, Access::read_write},
                   {args.tokens, Access::read_write},
                   {args.seen, Access::read_write}},
      .grid = {},
      .oracle = advance_reference,
  });
}

}  // namespace ztvm::kernels
