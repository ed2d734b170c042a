#include "kernels/embed/embed.hpp"

namespace ztvm::kernels {

void embed_reference(std::span<const gpu::HostView> views, QuantKind kind, std::uint32_t dim,
                     std::uint32_t first_row, std::uint32_t part_rows) {
  const Step step = load_step(views[2]);
  std::vector<float> row(dim);
  for (std::size_t r = 0; r < step.n_rows; ++r) {
    const std::uint32_t token = views[3].word(r);
    if (token < first_row || token - first_row >= part_rows) continue;
    load_row(views[0], views[1], kind, token - first_row, row);
    for (std::size_t i = 0; i < dim; ++i) views[4].store(r * dim + i, row[i]);
  }
}

}  // namespace ztvm::kernels
