// The forms of a GPU for one row of x: in whole numbers for q4 and q8 weights, in f32 for the other kinds.
#include <algorithm>

#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

bool has_integer_form(QuantKind kind) { return kind == QuantKind::q4 || kind == QuantKind::q8; }

// Threads that share a weight row's groups: enough workgroups keep a GPU busy with one subgroup each; fewer and longer
// rows are spread over more threads.
std::uint32_t float_workgroup(const MatmulShape& shape, std::uint32_t n_workgroups) {
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  std::uint32_t workgroup = 32;
  while (workgroup < 256 && workgroup < n_groups && n_workgroups * workgroup < 132u * 1024u) workgroup *= 2;
  return workgroup;
}

// Four weight rows a workgroup.
gpu::Program float_program(const gpu::Recording& recording, const MatmulShape& shape,
                           std::uint32_t n_workgroups) {
  gpu::Program program = {.body = "matmul_gpu_row_float",
                          .parts = {"step", "row_x", epilogue_part(shape.epilogue),
                                    recording.target.subgroups ? "reduce4_subgroup" : "reduce4_workgroup",
                                    "row_any", "quads", weights_part(shape.kind)},
                          .consts = matmul_consts(shape)};
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  program.consts.push_back(gpu::const_u32("WORKGROUP", float_workgroup(shape, n_workgroups)));
  return program;
}

// How the integer form spreads weight rows over threads.
struct IntegerForm {
  std::uint32_t lanes = 32;  // threads that share four weight rows
  std::uint32_t workgroup = 256;
};

// Bytes of x that are kept at once, in groups: what fits 16 KiB of workgroup memory beside the sums.
constexpr std::uint32_t k_max_chunk_groups = 96;

// Few and long rows are spread over more threads. Workgroups stay large: each makes x's bytes anew, and 64 threads took
// twice as long for it as 256 (H200, 3072 x 8192: 28 against 17 us).
IntegerForm choose_integer_form(const MatmulShape& shape) {
  IntegerForm form;
  const std::uint32_t n_weight_rows = shape.n_out * (shape.epilogue == Epilogue::swiglu ? 2 : 1);
  if (n_weight_rows <= 4096 && shape.dim >= 6144) form.lanes = 64;
  return form;
}

gpu::Program integer_program(const gpu::Recording& recording, const MatmulShape& shape,
                             const IntegerForm& form) {
  gpu::Program program = {
      .body = "matmul_gpu_row",
      .parts = {"step", shape.kind == QuantKind::q4 ? "row_q4" : "row_q8", epilogue_part(shape.epilogue),
                recording.target.subgroups ? "partial_sum_subgroup" : "partial_sum_workgroup"},
      .consts = matmul_consts(shape)};
  if (shape.normed) {
    program.parts.push_back("row_x_normed");
    program.parts.push_back(shape.rows == Rows::all ? "rows_all" : "rows_last");
    program.consts.push_back(gpu::const_f32("EPS", shape.norm_eps));
  } else {
    program.parts.push_back("row_x_stored");
  }
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  program.consts.push_back(gpu::const_u32("LANES", form.lanes));
  const std::uint32_t n_rounds = div_up(n_groups, form.lanes);
  const std::uint32_t n_chunks = div_up(n_rounds * form.lanes, k_max_chunk_groups);
  program.consts.push_back(gpu::const_u32("CHUNK_ROUNDS", div_up(n_rounds, n_chunks)));
  program.consts.push_back(gpu::const_u32("WORKGROUP", form.workgroup));
  return program;
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
  gpu::Op op = {
      .name = std::string(name),
      .program = {},
      .bindings = matmul_bindings(args, part),
      .grid = {},
      .oracle = [shape](std::span<const gpu::HostView> views) { matmul_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
  };
  std::uint32_t n_workgroups = 0;
  if (has_integer_form(shape.kind)) {
    const IntegerForm form = choose_integer_form(shape);
    n_workgroups = div_up(shape.n_out, form.workgroup / form.lanes * 4 / n_mats);
    op.program = integer_program(recording, shape, form);
    op.tolerance += static_cast<float>(n_mats) * k_row_bytes_tolerance;
    if (shape.normed) op.bindings.push_back({args.norm->weight, gpu::Access::read});
  } else {
    n_workgroups = div_up(shape.n_out, 4 / n_mats);
    op.program = float_program(recording, shape, n_workgroups);
  }
  const gpu::Grid linear = gpu::linear_grid(n_workgroups);
  op.grid = {.x = linear.x, .y = 1, .z = linear.y};
  recording.ops.push_back(std::move(op));
}

}  // namespace ztvm::kernels
