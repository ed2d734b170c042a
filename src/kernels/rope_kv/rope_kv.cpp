#include "kernels/rope_kv/rope_kv.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ztvm::kernels {

RopeKvShape shape_of(const RopeKv& args) {
  const std::uint32_t n_all_heads = args.shape.n_heads + 2 * args.shape.n_kv_heads;
  check(args.row_heads == 0 || args.row_heads >= n_all_heads, "a row of qkv has q, k and v");
  return {.heads = args.shape,
          .n_rotated = args.n_rotated,
          .row_heads = args.row_heads == 0 ? n_all_heads : args.row_heads,
          .has_norm = args.qk_norm.buffer != gpu::BufferId::none,
          .norm_eps = args.norm_eps};
}

namespace {

// How a form spreads the heads of a row over threads.
struct Form {
  std::string_view body;
  std::uint32_t workgroup = 0;
  std::uint32_t n_workgroups = 0;  // for each row
};

// A norm and a group's scale need more of a head than a pair.
Form choose_form(const gpu::Target& target, const RopeKvShape& shape, bool int8) {
  const std::uint32_t n_all_heads = shape.heads.n_heads + 2 * shape.heads.n_kv_heads;
  const std::uint32_t n_pairs = shape.heads.head_dim / 2;
  if (!shape.has_norm && !int8) {
    const std::uint32_t workgroup = target.cpu ? 8 : 64;
    return {"rope_kv", workgroup, div_up(n_all_heads * n_pairs, workgroup)};
  }
  if (target.cpu) return {"rope_kv_heads_cpu", 8, div_up(n_all_heads, 8u)};
  return {"rope_kv_heads_gpu", std::max(32u, std::bit_ceil(n_pairs)), n_all_heads};
}

}  // namespace

void rope_kv(gpu::Recording& recording, std::string_view name, const RopeKv& args) {
  using gpu::Access;
  const gpu::Target& target = recording.target;
  const RopeKvShape shape = shape_of(args);
  const bool int8 = is_int8(args.keys);
  const Form form = choose_form(target, shape, int8);
  gpu::Op op = {
      .name = std::string(name),
      .program = {.body = form.body,
                  .parts = {"step", "kv_pages", int8 ? "kv_int8" : "kv_float", "rope_pairs", "rope_kv_pairs"},
                  .consts = {gpu::const_u32("N_HEADS", shape.heads.n_heads),
                             gpu::const_u32("N_KV_HEADS", shape.heads.n_kv_heads),
                             gpu::const_u32("ROW_HEADS", shape.row_heads),
                             gpu::const_u32("HEAD_DIM", shape.heads.head_dim),
                             gpu::const_u32("N_ROTATED", shape.n_rotated),
                             gpu::const_u32("WORKGROUP", form.workgroup)}},
      .bindings = {{args.step, Access::read},
                   {args.qkv, Access::read},
                   {args.rope, Access::read},
                   {args.pages, Access::read},
                   {args.q, Access::read_write},
                   {args.keys, Access::read_write},
                   {args.values, Access::read_write}},
      .grid = {.x = form.n_workgroups, .rows_axis = gpu::Grid::Axis::y},
      .oracle = [shape](std::span<const gpu::HostView> views) { rope_kv_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(2, args.q.dtype),
  };
  if (shape.has_norm || int8) {
    op.program.parts.push_back(int8 ? "kv_int8_write" : "kv_float_write");
    op.program.parts.push_back(shape.has_norm ? "fresh_normed" : "fresh_plain");
    op.program.parts.push_back("normed_pairs");
    if (!target.cpu) op.program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  }
  if (shape.has_norm) {
    op.bindings.push_back({args.qk_norm, Access::read});
    op.program.consts.push_back(gpu::const_f32("EPS", shape.norm_eps));
    op.tolerance = gpu::sum_tolerance(shape.heads.head_dim, args.q.dtype);
  }
  recording.ops.push_back(std::move(op));
}

std::vector<float> rope_table(std::uint32_t context, std::uint32_t n_rotated, double theta,
                              std::span<const float> factors) {
  const std::uint32_t half = n_rotated / 2;
  check(factors.empty() || factors.size() == half, "each frequency has its factor");
  std::vector<float> table(std::size_t{context} * half * 2);
  for (std::uint32_t j = 0; j < half; ++j) {
    const double frequency = std::pow(theta, -2.0 * j / n_rotated) / (factors.empty() ? 1.0 : factors[j]);
    for (std::size_t position = 0; position < context; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      table[(position * half + j) * 2] = static_cast<float>(std::cos(angle));
      table[(position * half + j) * 2 + 1] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

}  // namespace ztvm::kernels
