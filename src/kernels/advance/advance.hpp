#pragma once
// The end of a pass: the chosen token becomes the input of the next, without the host.
// tokens[0] = step.choice; it enters the ring that the host reads some steps behind; position moves on. One thread.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct Advance {
  gpu::Tensor step;    // Step
  gpu::Tensor tokens;  // [max_rows] u32
  gpu::Tensor seen;    // [vocab] u32: 1 for tokens in the context
};

void advance(gpu::Recording& recording, const Advance& args);

// The oracle, on bindings step, tokens, seen.
void advance_reference(std::span<const gpu::HostView> views);

}  // namespace ztvm::kernels
