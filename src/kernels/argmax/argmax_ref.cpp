#include <bit>
#include <cmath>
#include <limits>

#include "kernels/argmax/argmax.hpp"

namespace ztvm::kernels {

void block_maxima_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid,
                            std::uint32_t block) {
  for (std::uint32_t first = 0, b = 0; first < n_valid; first += block, ++b) {
    float best = std::numeric_limits<float>::lowest();
    std::uint32_t best_index = first;
    std::uint32_t n_not_finite = 0;
    for (std::uint32_t i = first; i < std::min(first + block, n_valid); ++i) {
      const float value = views[0].load(i);
      if (!std::isfinite(value)) {
        ++n_not_finite;
      } else if (value > best) {
        best = value;
        best_index = i;
      }
    }
    views[1].set_word(b * 4, std::bit_cast<std::uint32_t>(best));
    views[1].set_word(b * 4 + 1, best_index);
    views[1].set_word(b * 4 + 2, n_not_finite);
    views[1].set_word(b * 4 + 3, 0);
  }
}

void argmax_final_reference(std::span<const gpu::HostView> views, std::uint32_t n_blocks) {
  Step step = load_step(views[1]);
  float best = 0.0f;
  for (std::uint32_t block = 0; block < n_blocks; ++block) {
    const float value = std::bit_cast<float>(views[0].word(block * 4));
    step.n_not_finite += views[0].word(block * 4 + 2);
    if (block > 0 && !(value > best)) continue;
    best = value;
    step.choice = views[0].word(block * 4 + 1);
  }
  store_step(views[1], step);
}

}  // namespace ztvm::kernels
