// The forms of a GPU for one row of x: in whole numbers for q4 and q8 weights, in f32 for the other kinds.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "gpu/tuning.hpp"
#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

bool has_integer_form(QuantKind kind) { return kind == QuantKind::q4 || kind == QuantKind::q8; }

// Threads that share a weight row's groups. First: enough workgroups keep a GPU busy with one subgroup each; fewer and
// longer rows are spread over more threads.
std::vector<std::uint32_t> float_workgroups(const MatmulShape& shape, std::uint32_t n_workgroups) {
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  std::uint32_t workgroup = 32;
  while (workgroup < 256 && workgroup < n_groups && n_workgroups * workgroup < 132u * 1024u) workgroup *= 2;
  std::vector<std::uint32_t> workgroups = {workgroup};
  for (const std::uint32_t other : {32u, 64u, 128u, 256u}) {
    if (other != workgroup && other / 2 < n_groups) workgroups.push_back(other);
  }
  return workgroups;
}

// Four weight rows a workgroup.
gpu::Program float_program(const gpu::Recording& recording, const MatmulShape& shape,
                           std::uint32_t workgroup) {
  gpu::Program program = {.body = "matmul_gpu_row_float",
                          .parts = {"step", "row_x", epilogue_part(shape.epilogue),
                                    recording.target.subgroups ? "reduce4_subgroup" : "reduce4_workgroup",
                                    "row_any", "quads", weights_part(shape.kind)},
                          .consts = matmul_consts(shape)};
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  program.consts.push_back(gpu::const_u32("WORKGROUP", workgroup));
  return program;
}

constexpr std::uint32_t k_step_rows = 2;  // weight rows of a team and step

// How the integer form goes through the weights: teams of `lanes` threads take two rows a step.
struct IntegerForm {
  std::uint32_t workgroup = 256;
  std::uint32_t lanes = 32;
  std::uint32_t steps = 1;
  std::uint32_t rounds = 1;   // groups of a row that a thread asks for together
  std::uint32_t batches = 1;  // of those in a chunk

  bool operator==(const IntegerForm&) const = default;
};

// Groups of x whose bytes and scales fit workgroup memory beside the slots of every thread: its partial sums, and what
// joins four threads without subgroup operations.
std::uint32_t max_chunk_groups(const gpu::Recording& recording, const IntegerForm& form) {
  const std::uint32_t slots = k_step_rows * form.steps + 1 + (recording.target.subgroups ? 0 : 2);
  const std::uint32_t n_bytes = 4 * slots * form.workgroup;
  return recording.limits.workgroup_bytes <= n_bytes ? 0 : (recording.limits.workgroup_bytes - n_bytes) / 80;
}

// In as few batches and chunks as `form.rounds` and the memory allow, all alike. None: the device has not the threads, or
// not the memory.
std::optional<IntegerForm> fit_integer_form(const gpu::Recording& recording, std::uint32_t n_groups,
                                            IntegerForm form) {
  if (form.workgroup > recording.limits.workgroup_threads) return std::nullopt;
  const std::uint32_t n_rounds = div_up(n_groups, form.lanes);
  const std::uint32_t most_rounds = std::min(form.rounds, max_chunk_groups(recording, form) / form.lanes);
  if (most_rounds == 0) return std::nullopt;
  const std::uint32_t n_batches = div_up(n_rounds, most_rounds);
  form.rounds = div_up(n_rounds, n_batches);
  const std::uint32_t most_batches = max_chunk_groups(recording, form) / (form.lanes * form.rounds);
  form.batches = div_up(n_batches, div_up(n_batches, most_batches));
  return form;
}

// The first was the fastest on an H200 (docs/performance.md): teams of 64 threads for long rows; else, as each workgroup makes
// x's bytes anew, threads and steps for so few workgroups that all run at once there, or smaller teams where these leave no
// thread idle or the rows are many.
std::vector<IntegerForm> integer_forms(const gpu::Recording& recording, const MatmulShape& shape) {
  constexpr std::uint32_t k_all = 6;  // rounds of a short row together
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  const std::uint32_t n_team_columns = k_step_rows / (shape.epilogue == Epilogue::swiglu ? 2 : 1);
  // Workgroups of 256 threads that take one step.
  const auto n_workgroups = [&](std::uint32_t lanes) {
    return div_up(shape.n_out, n_team_columns * (256 / lanes));
  };
  std::vector<IntegerForm> wanted;
  if (n_groups > 160) {
    wanted = {{1024, 64, 1, 3}, {768, 64, 1, 2}, {1024, 64, 1, 5}, {512, 64, 1, 5},
              {512, 32, 1, 5},  {256, 64, 1, 5}, {256, 32, 1, 4},  {256, 32, 1, 2}};
  } else {
    const std::uint32_t n_small = n_groups % 16 == 0 ? n_workgroups(16) : 0;
    const std::uint32_t n_usual = n_workgroups(32);
    if (n_small >= 1000) wanted.push_back({256, 16, 4, k_all});
    if (n_groups % 32 != 0) {  // teams of 32 leave threads idle
      if (n_small >= 512) wanted.push_back({384, 16, 2, k_all});
      if (n_small >= 256) wanted.push_back({256, 16, 1, k_all});
    } else {
      if (n_usual >= 1000) wanted.push_back({512, 32, 2, k_all});
      if (n_usual >= 512) wanted.push_back({384, 32, 3, k_all});
    }
    // Few rows: larger teams are more workgroups.
    if (n_usual < 256 && n_groups % 96 == 0) wanted.push_back({384, 96, 1, k_all});
    if (n_usual < 256 && n_groups % 64 == 0) wanted.push_back({384, 64, 1, k_all});
    const std::uint32_t steps = std::clamp(n_usual / 256, 1u, 4u);
    wanted.insert(wanted.end(), {{256, 32, steps, k_all},
                                 {256, 32, 1, k_all},
                                 {256, 32, 2, k_all},
                                 {256, 16, 2, k_all},
                                 {384, 32, 2, k_all},
                                 {384, 32, 3, k_all},
                                 {512, 32, 1, k_all},
                                 {256, 16, 1, k_all},
                                 {256, 64, 1, k_all},
                                 {384, 96, 1, k_all},
                                 {256, 32, 1, 1}});
  }
  std::vector<IntegerForm> forms;
  for (IntegerForm form : wanted) {
    // A group of q8 has twice the words.
    if (shape.kind == QuantKind::q8) form.rounds = div_up(form.rounds, 2u);
    const auto fitted = fit_integer_form(recording, n_groups, form);
    if (fitted && std::ranges::find(forms, *fitted) == forms.end()) forms.push_back(*fitted);
  }
  return forms;
}

gpu::Program integer_program(const gpu::Recording& recording, const MatmulShape& shape,
                             const IntegerForm& form) {
  const bool subgroups = recording.target.subgroups;
  gpu::Program program = {
      .body = "matmul_gpu_row",
      .parts = {"step", "folds", "row_bytes", "weight_row", shape.kind == QuantKind::q4 ? "row_q4" : "row_q8",
                epilogue_part(shape.epilogue),
                shape.epilogue == Epilogue::add_residual ? "out_before_residual" : "out_before_none",
                subgroups ? "partial_sum_subgroup" : "partial_sum_workgroup",
                subgroups ? "fours_subgroup" : "fours_workgroup"},
      .consts = matmul_consts(shape)};
  if (shape.normed) {
    program.parts.push_back("row_x_normed");
    program.parts.push_back(shape.rows == Rows::all ? "rows_all" : "rows_last");
    program.consts.push_back(gpu::const_f32("EPS", shape.norm_eps));
  } else {
    program.parts.push_back("row_x_stored");
  }
  program.consts.insert(
      program.consts.end(),
      {gpu::const_u32("N_OUT", shape.n_out), gpu::const_u32("LANES", form.lanes),
       gpu::const_u32("STEPS", form.steps), gpu::const_u32("ROUNDS", form.rounds),
       gpu::const_u32("BATCHES", form.batches), gpu::const_u32("WORKGROUP", form.workgroup)});
  return program;
}

gpu::Grid row_grid(std::uint32_t n_workgroups) {
  const gpu::Grid linear = gpu::linear_grid(n_workgroups);
  return {.x = linear.x, .y = 1, .z = linear.y};
}

}  // namespace

bool is_gpu_row(const gpu::Recording& recording, const Matmul& args) {
  return !recording.target.cpu && (recording.max_rows == 1 || args.rows == Rows::last);
}

bool gpu_row_takes_norm(const Matrix& weights) {
  return std::ranges::all_of(weights.parts,
                             [](const MatrixPart& part) { return has_integer_form(part.kind); });
}

void record_gpu_row(gpu::Recording& recording, std::string_view name, const Matmul& args,
                    const MatrixPart& part, const MatmulShape& shape) {
  const std::uint32_t n_mats = shape.epilogue == Epilogue::swiglu ? 2 : 1;
  gpu::Op op = matmul_op(name, args, part, shape);
  std::vector<gpu::Form> forms;
  if (has_integer_form(shape.kind)) {
    op.tolerance += static_cast<float>(n_mats) * k_row_bytes_tolerance;
    if (shape.normed) op.bindings.push_back({args.norm->weight, gpu::Access::read});
    for (const IntegerForm& form : integer_forms(recording, shape)) {
      const std::uint32_t n_columns = form.workgroup / form.lanes * form.steps * k_step_rows / n_mats;
      forms.push_back({.name = fmt::format("{} threads, teams of {}, {} step{}", form.workgroup, form.lanes,
                                           form.steps, form.steps == 1 ? "" : "s"),
                       .program = integer_program(recording, shape, form),
                       .grid = row_grid(div_up(shape.n_out, n_columns))});
    }
  } else {
    const std::uint32_t n_workgroups = div_up(shape.n_out, 4 / n_mats);
    for (const std::uint32_t workgroup : float_workgroups(shape, n_workgroups)) {
      forms.push_back({.name = fmt::format("{} threads", workgroup),
                       .program = float_program(recording, shape, workgroup),
                       .grid = row_grid(n_workgroups)});
    }
  }
  record_tuned(recording, std::move(op), describe(shape, 1), std::move(forms));
}

}  // namespace ztvm::kernels
