#include "kernels/attention/attention_split.hpp"

#include <algorithm>
#include <cmath>

namespace ztvm::kernels {
namespace {

constexpr std::uint32_t k_workgroup = 128;
constexpr std::uint32_t k_max_heads = 4;  // of a workgroup, bounded by workgroup memory

// Heads that share a kv head and a workgroup.
std::uint32_t heads_per_workgroup(const AttentionShape& shape) {
  const std::uint32_t n_sharing = shape.n_heads / shape.n_kv_heads;
  std::uint32_t n_heads = std::min(n_sharing, k_max_heads);
  while (n_sharing % n_heads != 0) --n_heads;
  return n_heads;
}

}  // namespace

std::uint64_t attention_partials(const AttentionShape& shape, const gpu::Target& target,
                                 std::uint32_t context) {
  if (target.cpu) return 0;
  return std::uint64_t{shape.n_heads} * div_up(context, k_split_keys) * share_elements(shape);
}

void attention_split(gpu::Recording& recording, std::string_view name, const Attention& args) {
  using gpu::Access;
  const AttentionShape& shape = args.shape;
  const std::uint32_t n_splits = div_up(args.context, k_split_keys);
  const std::uint32_t n_heads = heads_per_workgroup(shape);
  const std::vector<gpu::Const> consts = {
      gpu::const_u32("N_HEADS", shape.n_heads), gpu::const_u32("HEAD_DIM", shape.head_dim),
      gpu::const_u32("N_SPLITS", n_splits), gpu::const_u32("SPLIT", k_split_keys),
      gpu::const_u32("WORKGROUP", k_workgroup)};
  std::vector<gpu::Const> share_consts = consts;
  share_consts.push_back(gpu::const_u32("N_KV_HEADS", shape.n_kv_heads));
  share_consts.push_back(gpu::const_u32("HEADS", n_heads));
  share_consts.push_back(gpu::const_f32("SCALE", 1.0f / std::sqrt(static_cast<float>(shape.head_dim))));
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = "attention_split",
                  .parts = {"step", "kv_pages"},
                  .consts = std::move(share_consts)},
      .bindings = {{args.step, Access::read},
                   {args.q, Access::read},
                   {args.keys, Access::read},
                   {args.values, Access::read},
                   {args.pages, Access::read},
                   {args.partials, Access::read_write}},
      .grid = {.x = shape.n_heads / n_heads, .y = n_splits},
      .oracle =
          [shape, n_splits](std::span<const gpu::HostView> views) {
            attention_shares_reference(views, shape, n_splits);
          },
      // As for attention: scores may be large, and exp turns their absolute error into a relative one.
      .tolerance = 8.0f * gpu::sum_tolerance(shape.head_dim, gpu::Dtype::f32),
  });
  recording.ops.push_back({
      .name = std::string(name) + " merge",
      .program = {.body = "attention_merge", .parts = {"step"}, .consts = consts},
      .bindings = {{args.step, Access::read}, {args.partials, Access::read}, {args.out, Access::read_write}},
      .grid = {.x = shape.n_heads},
      .oracle =
          [shape, n_splits](std::span<const gpu::HostView> views) {
            attention_merge_reference(views, shape, n_splits);
          },
      .tolerance = 8.0f * gpu::sum_tolerance(n_splits, args.out.dtype),
  });
}

}  // namespace ztvm::kernels
