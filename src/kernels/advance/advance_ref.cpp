#include "kernels/advance/advance.hpp"

namespace ztvm::kernels {

void advance_reference(std::span<const gpu::HostView> views) {
  Step step = load_step(views[0]);
  views[1].set_word(0, step.choice);
  views[2].set_word(step.choice, 1);
  step.ring[step.n_chosen % k_ring_tokens] = step.choice;
  ++step.n_chosen;
  step.position += step.n_rows;
  step.n_rows = 1;
  store_step(views[0], step);
}

}  // namespace ztvm::kernels
