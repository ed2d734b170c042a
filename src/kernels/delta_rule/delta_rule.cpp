#include "kernels/delta_rule/delta_rule.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/delta_rule/delta_rule_chunks.hpp"

namespace ztvm::kernels {
namespace {

// Below this the step form's barrier a row costs less than preparing chunks.
constexpr std::uint32_t k_min_chunked_rows = 32;

// What the kernel sets differ in.
struct StepForm {
  std::string_view body;
  std::vector<gpu::Const> consts;
  gpu::Grid grid;
  RowRange rows;
};

void record_step(gpu::Recording& recording, std::string_view name, const DeltaRule& args,
                 const StepForm& form) {
  using gpu::Access;
  gpu::Program program = {.body = form.body,
                          .parts = {"step", "gates", "delta_rule_gates", "delta_rule_heads"},
                          .consts = delta_rule_consts(args.shape)};
  program.consts.insert(program.consts.end(), form.consts.begin(), form.consts.end());
  const std::uint32_t n_rows = std::min(form.rows.count, recording.max_rows);
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = {{args.step, Access::read},
                   {args.qkv, Access::read},
                   {args.x, Access::read},
                   {args.a_log, Access::read},
                   {args.dt_bias, Access::read},
                   {args.state, Access::read_write},
                   {args.out, Access::read_write}},
      .grid = form.grid,
      .oracle = [shape = args.shape, rows = form.rows](
                    std::span<const gpu::HostView> views) { delta_rule_reference(views, shape, rows); },
      // Each row adds an error of a sum over the keys, and none is magnified later: S is multiplied by
      // decay (I - beta k k^T), whose norm is at most 1. So all rows together are one long sum.
      .tolerance = delta_rule_tolerance(args.shape, n_rows),
  });
}

void record_step_cpu(gpu::Recording& recording, std::string_view name, const DeltaRule& args) {
  constexpr std::uint32_t k_workgroup = 8;
  constexpr std::uint32_t k_max_iterations = 60000;  // of an invocation; llvmpipe's limit with room to spare
  const DeltaRuleShape& shape = args.shape;
  const std::uint32_t n_rows = k_max_iterations / (shape.key_dim / 2 + 1);
  for (std::uint32_t first = 0; first < recording.max_rows; first += n_rows) {
    record_step(recording, name, args,
                {.body = "delta_rule_step_cpu",
                 .consts = {gpu::const_u32("FIRST_ROW", first), gpu::const_u32("N_ROWS", n_rows),
                            gpu::const_u32("WORKGROUP", k_workgroup)},
                 .grid = {.x = div_up(shape.value_dim / 4, k_workgroup), .y = shape.n_value_heads},
                 .rows = {first, n_rows}});
  }
}

void record_step_gpu(gpu::Recording& recording, std::string_view name, const DeltaRule& args) {
  constexpr std::uint32_t k_columns = 32;
  constexpr std::uint32_t k_parts = 8;
  const DeltaRuleShape& shape = args.shape;
  record_step(recording, name, args,
              {.body = "delta_rule_step_gpu",
               .consts = {gpu::const_u32("COLUMNS", k_columns), gpu::const_u32("PARTS", k_parts),
                          gpu::const_u32("KEYS", div_up(shape.key_dim, k_parts)),
                          gpu::const_u32("WORKGROUP", k_columns * k_parts)},
               .grid = {.x = div_up(shape.value_dim, k_columns), .y = shape.n_value_heads},
               .rows = {}});
}

}  // namespace

std::vector<gpu::Const> delta_rule_consts(const DeltaRuleShape& shape) {
  return {gpu::const_u32("KEY_HEADS", shape.n_key_heads),
          gpu::const_u32("VALUE_HEADS", shape.n_value_heads),
          gpu::const_u32("KEY_DIM", shape.key_dim),
          gpu::const_u32("VALUE_DIM", shape.value_dim),
          gpu::const_f32("QUERY_SCALE", 1.0f / std::sqrt(static_cast<float>(shape.key_dim))),
          gpu::const_u32("X_STRIDE", shape.x_stride),
          gpu::const_u32("FIRST_B", shape.first_b),
          gpu::const_u32("FIRST_A", shape.first_a)};
}

std::uint64_t delta_rule_scratch(const DeltaRuleShape& shape, const gpu::Target& target,
                                 std::uint32_t max_rows, std::uint32_t chunk) {
  if (target.cpu || max_rows < k_min_chunked_rows) return 0;
  return std::uint64_t{div_up(max_rows, chunk)} * shape.n_value_heads * chunk_block_elements(chunk);
}

void delta_rule(gpu::Recording& recording, std::string_view name, const DeltaRule& args) {
  const DeltaRuleShape& shape = args.shape;
  check(shape.key_dim % 4 == 0 && shape.key_dim <= 256, "key_dim is a multiple of 4, at most 256");
  check(shape.value_dim % 4 == 0, "value_dim is a multiple of 4");
  check(std::max(shape.first_a, shape.first_b) + shape.n_value_heads <= shape.x_stride,
        "a and b lie inside a row of x");
  check(args.chunk == 16 || args.chunk == 32, "a chunk has 16 or 32 rows");
  const bool chunked = delta_rule_scratch(shape, recording.target, recording.max_rows, args.chunk) > 0;
  if (chunked && args.scratch.buffer != gpu::BufferId::none) {
    delta_rule_chunks(recording, name, args);
  } else if (recording.target.cpu) {
    record_step_cpu(recording, name, args);
  } else {
    record_step_gpu(recording, name, args);
  }
}

}  // namespace ztvm::kernels
