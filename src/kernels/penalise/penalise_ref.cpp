#include "kernels/penalise/penalise.hpp"

namespace ztvm::kernels {

void penalise_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid) {
  const double penalty = load_step(views[0]).repeat_penalty;
  for (std::uint32_t token = 0; token < n_valid; ++token) {
    if (views[1].word(token) == 0) continue;
    const double value = views[2].load(token);
    views[2].store(token, static_cast<float>(value > 0.0 ? value / penalty : value * penalty));
  }
}

}  // namespace ztvm::kernels
