#include "kernels/rope_kv/rope_kv.hpp"

#include <cmath>

namespace ztvm::kernels {

void rope_kv(gpu::Recording& recording, std::string_view name, const RopeKv& args) {
  using gpu::Access;
  const AttentionShape& shape = args.shape;
  const std::uint32_t workgroup = recording.target.cpu ? 8 : 64;
  const std::uint32_t n_threads = (shape.n_heads + 2 * shape.n_kv_heads) * (shape.head_dim / 2);
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = "rope_kv",
                  .parts = {"step", "kv_pages"},
                  .consts = {gpu::const_u32("N_HEADS", shape.n_heads),
                             gpu::const_u32("N_KV_HEADS", shape.n_kv_heads),
                             gpu::const_u32("HEAD_DIM", shape.head_dim),
                             gpu::const_u32("N_ROTATED", args.n_rotated),
                             gpu::const_u32("WORKGROUP", workgroup)}},
      .bindings = {{args.step, Access::read},
                   {args.qkv, Access::read},
                   {args.rope, Access::read},
                   {args.pages, Access::read},
                   {args.q, Access::read_write},
                   {args.keys, Access::read_write},
                   {args.values, Access::read_write}},
      .grid = {.x = div_up(n_threads, workgroup), .rows_axis = gpu::Grid::Axis::y},
      .oracle = [shape, n_rotated = args.n_rotated](
                    std::span<const gpu::HostView> views) { rope_kv_reference(views, shape, n_rotated); },
      .tolerance = gpu::sum_tolerance(2, args.q.dtype),
  });
}

std::vector<float> rope_table(std::uint32_t context, std::uint32_t n_rotated, double theta) {
  const std::uint32_t half = n_rotated / 2;
  std::vector<float> table(std::size_t{context} * half * 2);
  for (std::uint32_t j = 0; j < half; ++j) {
    const double frequency = std::pow(theta, -2.0 * j / n_rotated);
    for (std::size_t position = 0; position < context; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      table[(position * half + j) * 2] = static_cast<float>(std::cos(angle));
      table[(position * half + j) * 2 + 1] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

}  // namespace ztvm::kernels
