#include "kernels/attention/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/tuning.hpp"
#include "kernels/attention/attention_rows.hpp"
#include "kernels/attention/attention_split.hpp"

namespace ztvm::kernels {

namespace {

// Queries that a workgroup of the CPU set answers: heads that share a kv head, of several rows.
struct CpuGroup {
  std::uint32_t n_heads = 1;
  std::uint32_t n_rows = 1;
};

CpuGroup cpu_group(const AttentionShape& shape, std::uint32_t max_rows) {
  constexpr std::uint32_t k_max_queries = 8;  // bounded by registers and workgroup memory
  const std::uint32_t n_sharing = shape.n_heads / shape.n_kv_heads;
  std::uint32_t n_heads = std::min(n_sharing, k_max_queries);
  while (n_sharing % n_heads != 0) --n_heads;
  return {.n_heads = n_heads, .n_rows = std::min(max_rows, std::max(1u, k_max_queries / n_heads))};
}

gpu::Grid apply_cpu_form(const AttentionShape& shape, std::uint32_t max_rows, gpu::Program& program) {
  constexpr std::uint32_t k_lanes = 8;  // of a vector register
  const CpuGroup group = cpu_group(shape, max_rows);
  program.consts.push_back(gpu::const_u32("HEADS", group.n_heads));
  program.consts.push_back(gpu::const_u32("ROWS", group.n_rows));
  program.consts.push_back(gpu::const_u32("WORKGROUP", round_up(shape.head_dim / 4, k_lanes)));
  return {.x = shape.n_heads / group.n_heads,
          .rows_axis = gpu::Grid::Axis::y,
          .rows_per_workgroup = group.n_rows};
}

}  // namespace

void attention(gpu::Recording& recording, std::string_view name, const Attention& args) {
  using gpu::Access;
  const AttentionShape& shape = args.shape;
  const bool cpu = recording.target.cpu;
  gpu::Program program = {
      .body = cpu ? "attention_cpu" : "attention_rows",
      .parts = {"step", "kv_pages", is_int8(args.keys) ? "kv_int8" : "kv_float"},
      .consts = {gpu::const_u32("N_HEADS", shape.n_heads), gpu::const_u32("N_KV_HEADS", shape.n_kv_heads),
                 gpu::const_u32("HEAD_DIM", shape.head_dim),
                 gpu::const_f32("SCALE", 1.0f / std::sqrt(static_cast<float>(shape.head_dim)))}};
  gpu::Op op = {
      .name = std::string(name),
      .program = {},
      .bindings = {{args.step, Access::read},
                   {args.q, Access::read},
                   {args.keys, Access::read},
                   {args.values, Access::read},
                   {args.pages, Access::read},
                   {args.out, Access::read_write}},
      .grid = {},
      .oracle = [shape](std::span<const gpu::HostView> views) { attention_reference(views, shape); },
      // Scores may be large, and exp turns their absolute error into a relative one.
      .tolerance = 8.0f * gpu::sum_tolerance(shape.head_dim, args.out.dtype),
  };
  if (cpu) {
    op.grid = apply_cpu_form(shape, recording.max_rows, program);
    op.program = std::move(program);
    recording.ops.push_back(std::move(op));
    return;
  }
  record_tuned(recording, std::move(op),
               fmt::format("attention of {} rows, {} heads of {} for {}{}", recording.max_rows, shape.n_heads,
                           shape.head_dim, shape.n_kv_heads, is_int8(args.keys) ? ", int8" : ""),
               attention_rows_forms(recording, shape, program));
}

void rope_attention(gpu::Recording& recording, std::string_view name, const RopeAttention& args) {
  if (!recording.target.cpu && recording.max_rows == 1) return attention_split(recording, name, args);
  rope_kv(recording, args.rope_name, args.rope);
  attention(recording, name,
            {.shape = args.rope.shape,
             .step = args.rope.step,
             .q = args.rope.q,
             .keys = args.rope.keys,
             .values = args.rope.values,
             .pages = args.rope.pages,
             .out = args.out});
}

}  // namespace ztvm::kernels
