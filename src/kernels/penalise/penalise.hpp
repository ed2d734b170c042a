#pragma once
// Repetition penalty (Keskar et al. 2019, section 4.1, with transformers' sign rule): for each token in the context
// logit /= penalty when positive, logit *= penalty otherwise. One thread a token. In place.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct Penalise {
  std::uint32_t n_valid = 0;
  gpu::Tensor step;    // Step: repeat_penalty
  gpu::Tensor seen;    // [vocab] u32: 1 for tokens in the context
  gpu::Tensor logits;  // [vocab] f32
};

void penalise(gpu::Recording& recording, const Penalise& args);

// The oracle, on bindings step, seen, logits.
void penalise_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid);

}  // namespace ztvm::kernels
