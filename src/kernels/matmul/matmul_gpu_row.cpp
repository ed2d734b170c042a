// The forms of a GPU for one row of x: in whole numbers for q4 and q8 weights, in f32 for the other kinds.
#include <fmt/format.h>

#include <algorithm>

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

constexpr std::uint32_t k_lanes = 32;  // threads that share two weight rows

// How the integer form goes through a weight row, in rounds of k_lanes groups.
struct IntegerForm {
  std::uint32_t workgroup = 256;
  std::uint32_t batch = 1;         // rounds whose weights are asked for together
  std::uint32_t chunk_rounds = 1;  // rounds whose bytes of x are kept at once
};

// Groups of x whose bytes and scales fit workgroup memory beside the slots of every thread.
std::uint32_t max_chunk_groups(const gpu::Limits& limits, std::uint32_t workgroup) {
  return (limits.workgroup_bytes - 16 * workgroup) / 80;
}

// As few chunks as fit, of batches alike. The workgroup and a batch fit the limits.
IntegerForm make_integer_form(const gpu::Limits& limits, std::uint32_t n_rounds, std::uint32_t workgroup,
                              std::uint32_t batch) {
  const std::uint32_t n_batches = div_up(n_rounds, batch);
  const std::uint32_t max_batches = max_chunk_groups(limits, workgroup) / (k_lanes * batch);
  return {.workgroup = workgroup,
          .batch = batch,
          .chunk_rounds = batch * div_up(n_batches, div_up(n_batches, max_batches))};
}

// The first was the fastest on an H200 (docs/performance.md): all of a short row at once, where no lane stays idle; long rows
// in batches of four or five rounds, by workgroups that make x's bytes with twice as many threads.
std::vector<IntegerForm> integer_forms(const gpu::Limits& limits, const MatmulShape& shape) {
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  const std::uint32_t n_rounds = div_up(n_groups, k_lanes);
  const bool is_long = n_rounds > 4;
  const std::uint32_t batch = is_long ? n_rounds % 5 == 0 ? 5 : 4 : n_groups % k_lanes == 0 ? n_rounds : 1;
  const bool has_512 = limits.workgroup_threads >= 512 && limits.workgroup_bytes >= 32768;
  std::vector<IntegerForm> forms;
  const auto add = [&](std::uint32_t workgroup, std::uint32_t rounds) {
    const std::uint32_t most = max_chunk_groups(limits, workgroup) / k_lanes;
    const IntegerForm form =
        make_integer_form(limits, n_rounds, workgroup, std::min({rounds, n_rounds, most}));
    const auto is_same = [&](const IntegerForm& other) {
      return other.workgroup == form.workgroup && other.batch == form.batch;
    };
    if (std::ranges::none_of(forms, is_same)) forms.push_back(form);
  };
  add(is_long && has_512 ? 512 : 256, batch);
  if (has_512) {
    add(512, batch);
    add(512, 1);
  }
  for (const std::uint32_t rounds : {batch, 3u, 2u, 1u}) add(256, rounds);
  add(128, batch);
  return forms;
}

gpu::Program integer_program(const gpu::Recording& recording, const MatmulShape& shape,
                             const IntegerForm& form) {
  const bool subgroups = recording.target.subgroups;
  gpu::Program program = {
      .body = "matmul_gpu_row",
      .parts = {"step", "folds", shape.kind == QuantKind::q4 ? "row_q4" : "row_q8",
                epilogue_part(shape.epilogue), subgroups ? "partial_sum_subgroup" : "partial_sum_workgroup",
                subgroups ? "fours_subgroup" : "fours_workgroup"},
      .consts = matmul_consts(shape)};
  if (shape.normed) {
    program.parts.push_back("row_x_normed");
    program.parts.push_back(shape.rows == Rows::all ? "rows_all" : "rows_last");
    program.consts.push_back(gpu::const_f32("EPS", shape.norm_eps));
  } else {
    program.parts.push_back("row_x_stored");
  }
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  program.consts.push_back(gpu::const_u32("CHUNK_ROUNDS", form.chunk_rounds));
  program.consts.push_back(gpu::const_u32("BATCH", form.batch));
  program.consts.push_back(gpu::const_u32("WORKGROUP", form.workgroup));
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
    for (const IntegerForm& form : integer_forms(recording.limits, shape)) {
      forms.push_back({.name = fmt::format("{} threads, {} rounds at a time", form.workgroup, form.batch),
                       .program = integer_program(recording, shape, form),
                       .grid = row_grid(div_up(shape.n_out, form.workgroup / k_lanes * 2 / n_mats))});
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
