#include "kernels/group_experts/group_experts.hpp"

namespace ztvm::kernels {

void group_experts_reference(std::span<const gpu::HostView> views, std::uint32_t n_experts,
                             std::uint32_t top_k) {
  const std::uint32_t n_pairs = load_step(views[0]).n_rows * top_k;
  std::uint32_t place = 0;
  for (std::uint32_t expert = 0; expert < n_experts; ++expert) {
    views[2].set_word(expert, place);
    for (std::uint32_t pair = 0; pair < n_pairs; ++pair) {
      if (views[1].word(pair) == expert) views[3].set_word(place++, pair);
    }
  }
  views[2].set_word(n_experts, place);
}

}  // namespace ztvm::kernels
