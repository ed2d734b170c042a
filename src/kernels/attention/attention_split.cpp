#include "kernels/attention/attention_split.hpp"

#include <cmath>

namespace ztvm::kernels {

SplitForm split_form(const AttentionShape& shape) {
  const std::uint32_t n_sharing = shape.n_heads / shape.n_kv_heads;
  SplitForm form;
  // Measured on an H200 (docs/performance.md); workgroup memory bounds heads x threads.
  if (n_sharing % 2 == 0) {
    form = {.n_heads = 2, .workgroup = 256};
  } else if (n_sharing % 3 == 0) {
    form.n_heads = 3;
  }
  if (shape.head_dim > 128) form.n_keys = 32;
  return form;
}

std::uint64_t attention_partials(const AttentionShape& shape, const gpu::Target& target,
                                 std::uint32_t context) {
  if (target.cpu) return 0;
  return std::uint64_t{shape.n_heads} * div_up(context, split_form(shape).n_keys) * share_elements(shape);
}

void attention_split(gpu::Recording& recording, std::string_view name, const RopeAttention& args) {
  using gpu::Access;
  const RopeKv& rope = args.rope;
  const RopeKvShape rope_shape = shape_of(rope);
  const AttentionShape& shape = rope.shape;
  const bool int8 = is_int8(rope.keys);
  const SplitForm form = split_form(shape);
  const std::uint32_t n_splits = div_up(args.context, form.n_keys);
  const auto consts = [&](std::uint32_t workgroup) {
    return std::vector<gpu::Const>{gpu::const_u32("N_HEADS", shape.n_heads),
                                   gpu::const_u32("HEAD_DIM", shape.head_dim),
                                   gpu::const_u32("N_SPLITS", n_splits), gpu::const_u32("SPLIT", form.n_keys),
                                   gpu::const_u32("WORKGROUP", workgroup)};
  };
  gpu::Op op = {
      .name = std::string(name),
      .program = {.body = "attention_split",
                  .parts = {"step", "kv_pages", int8 ? "kv_int8" : "kv_float",
                            int8 ? "kv_int8_write" : "kv_float_write"},
                  .consts = consts(form.workgroup)},
      .bindings = {{rope.step, Access::read},
                   {rope.qkv, Access::read},
                   {rope.rope, Access::read},
                   {rope.pages, Access::read},
                   {rope.keys, Access::read_write},
                   {rope.values, Access::read_write},
                   {args.partials, Access::read_write}},
      .grid = {.x = shape.n_heads / form.n_heads,
               .y = n_splits,
               .keys_axis = gpu::Grid::Axis::y,
               .keys_per_workgroup = form.n_keys},
      .oracle =
          [rope_shape, n_splits](std::span<const gpu::HostView> views) {
            attention_shares_reference(views, rope_shape, n_splits);
          },
      // As for attention: scores may be large, and exp turns their absolute error into a relative one. Queries and the
      // key are rounded on the way.
      .tolerance = 8.0f * gpu::sum_tolerance(shape.head_dim, rope.qkv.dtype),
  };
  op.program.consts.push_back(gpu::const_u32("N_KV_HEADS", shape.n_kv_heads));
  op.program.consts.push_back(gpu::const_u32("N_ROTATED", rope.n_rotated));
  op.program.consts.push_back(gpu::const_u32("HEADS", form.n_heads));
  op.program.consts.push_back(gpu::const_f32("SCALE", 1.0f / std::sqrt(static_cast<float>(shape.head_dim))));
  if (!rope_shape.has_norm) {
    op.program.parts.insert(op.program.parts.end(), {"rope_pairs", "fresh_by_pairs"});
  } else {
    op.program.parts.insert(op.program.parts.end(), {"fresh_normed", "fresh_by_quads"});
    op.program.consts.push_back(gpu::const_f32("EPS", rope.norm_eps));
    op.bindings.push_back({rope.qk_norm, Access::read});
  }
  recording.ops.push_back(std::move(op));
  recording.ops.push_back({
      .name = std::string(name) + " merge",
      .program = {.body = "attention_merge", .parts = {"step"}, .consts = consts(128)},
      .bindings = {{rope.step, Access::read}, {args.partials, Access::read}, {args.out, Access::read_write}},
      .grid = {.x = shape.n_heads},
      .oracle =
          [shape, n_splits](std::span<const gpu::HostView> views) {
            attention_merge_reference(views, shape, n_splits);
          },
      .tolerance = 8.0f * gpu::sum_tolerance(n_splits, args.out.dtype),
  });
}

}  // namespace ztvm::kernels
