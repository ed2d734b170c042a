// The form of a CPU adapter for one row of x.
#include <algorithm>
#include <optional>

#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

// One row of x, q4 or q8 weights, four rows a thread: the fast form of the CPU set.
struct Rows4 {
  std::uint32_t workgroup = 0;
  std::uint32_t n_workgroups = 0;
  std::uint32_t n_chunks = 0;  // ops that share a weight row, when it is too long for one
};

// Groups of a weight row that one op unrolls: more compile for ever, fewer cost a dispatch.
constexpr std::uint32_t k_max_chunk_groups = 24;
// Smaller matrices take the plain form: unrolled ones compile for 70 to 90 ms at each start, and cost no time worth it.
constexpr std::uint64_t k_min_elements = 1u << 17;

// Whether the fast form fits: an exact grid, and a residual to add up in when the row is cut.
std::optional<Rows4> plan_rows4(const gpu::Recording& recording, const Matmul& args, const MatrixPart& part) {
  const bool has_form = part.kind == QuantKind::q4 || part.kind == QuantKind::q8;
  const bool one_row = recording.max_rows == 1 || args.rows == Rows::last;
  const bool is_large = std::uint64_t{part.n_rows} * args.weights.dim >= k_min_elements;
  if (!recording.target.cpu || !has_form || !one_row || !is_large || part.n_rows % 4 != 0)
    return std::nullopt;
  const std::uint32_t n_groups = args.weights.dim / k_quant_group;
  Rows4 plan = {.n_chunks = div_up(n_groups, k_max_chunk_groups)};
  if (plan.n_chunks > 1 && args.epilogue != Epilogue::add_residual) return std::nullopt;
  const std::uint32_t n_threads = part.n_rows / 4;
  for (plan.workgroup = 24; n_threads % plan.workgroup != 0;) --plan.workgroup;
  plan.n_workgroups = n_threads / plan.workgroup;
  if (plan.n_workgroups > gpu::k_max_axis) return std::nullopt;
  return plan;
}

}  // namespace

bool record_cpu_rows4(gpu::Recording& recording, std::string_view name, const Matmul& args,
                      const MatrixPart& part, const MatmulShape& whole) {
  const std::optional<Rows4> plan = plan_rows4(recording, args, part);
  if (!plan) return false;
  MatmulShape shape = whole;
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  const std::uint32_t chunk = div_up(n_groups, plan->n_chunks);
  for (std::uint32_t first = 0; first < n_groups; first += chunk) {
    const std::uint32_t count = std::min(chunk, n_groups - first);
    gpu::Program program = {.body = "matmul_cpu_rows4",
                            .parts = {"step", shape.kind == QuantKind::q4 ? "rows4_q4" : "rows4_q8",
                                      epilogue_part(shape.epilogue)},
                            .consts = matmul_consts(shape)};
    program.consts.push_back(gpu::const_u32("FIRST_GROUP", first));
    program.consts.push_back(gpu::const_u32("CHUNK_GROUPS", count));
    program.consts.push_back(gpu::const_u32("WORKGROUP", plan->workgroup));
    shape.first_element = first * k_quant_group;
    shape.n_elements = count * k_quant_group;
    gpu::Op op = matmul_op(name, args, part, shape);
    op.program = std::move(program);
    op.grid = {.x = plan->n_workgroups};
    recording.ops.push_back(std::move(op));
  }
  return true;
}

}  // namespace ztvm::kernels
