#include "kernels/stream_read/stream_read.hpp"

namespace ztvm::kernels {

void stream_read_reference(std::span<const gpu::HostView> views, std::uint32_t n_quads,
                           std::uint32_t n_threads, bool contiguous) {
  const std::uint32_t run = div_up(n_quads, n_threads);
  std::vector<std::uint32_t> values(n_threads, 0);
  for (std::uint32_t quad = 0; quad < n_quads; ++quad) {
    std::uint32_t& value = values[contiguous ? quad / run : quad % n_threads];
    for (std::size_t i = 0; i < 4; ++i) value ^= views[0].word(std::size_t{quad} * 4 + i);
  }
  for (std::uint32_t thread = 0; thread < n_threads; ++thread) views[1].set_word(thread, values[thread]);
}

}  // namespace ztvm::kernels
