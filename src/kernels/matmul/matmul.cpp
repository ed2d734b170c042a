#include "kernels/matmul/matmul.hpp"

#include <algorithm>
#include <optional>

namespace ztvm::kernels {
namespace {

std::string_view epilogue_part(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::store: return "finish_store";
    case Epilogue::store_f32: return "finish_f32";
    case Epilogue::add_residual: return "finish_residual";
    case Epilogue::swiglu: return "finish_swiglu";
  }
  return {};
}

// One row of x, q4 or q8 weights, four rows a thread: the fast form of the CPU set.
struct Rows4 {
  std::uint32_t workgroup = 0;
  std::uint32_t n_workgroups = 0;
  std::uint32_t n_chunks = 0;  // ops that share a weight row, when it is too long for one
};

// Groups of a weight row that one op unrolls: more compile for ever, fewer cost a dispatch.
constexpr std::uint32_t k_max_chunk_groups = 24;

// Whether the fast form fits: an exact grid, and a residual to add up in when the row is cut.
std::optional<Rows4> plan_rows4(const gpu::Recording& recording, const Matmul& args, const MatrixPart& part) {
  const bool has_form = part.kind == QuantKind::q4 || part.kind == QuantKind::q8;
  const bool one_row = recording.max_rows == 1 || args.rows == Rows::last;
  if (!recording.target.cpu || !has_form || !one_row || part.n_rows % 4 != 0) return std::nullopt;
  const std::uint32_t n_groups = args.weights.dim / k_quant_group;
  Rows4 plan = {.n_chunks = div_up(n_groups, k_max_chunk_groups)};
  if (plan.n_chunks > 1 && args.epilogue != Epilogue::add_residual) return std::nullopt;
  const std::uint32_t n_threads = part.n_rows / 4;
  for (plan.workgroup = 24; n_threads % plan.workgroup != 0;) --plan.workgroup;
  plan.n_workgroups = n_threads / plan.workgroup;
  if (plan.n_workgroups > 65535) return std::nullopt;
  return plan;
}

std::vector<gpu::Const> shape_consts(const MatmulShape& shape) {
  const bool pair = shape.epilogue == Epilogue::swiglu;
  return {gpu::const_u32("N_GROUPS", shape.dim / k_quant_group), gpu::const_u32("N_MATS", pair ? 2 : 1),
          gpu::const_u32("PAIR_OFFSET", pair ? shape.n_out : 0),
          gpu::const_u32("OUT_STRIDE", shape.out_stride), gpu::const_u32("OUT_FIRST", shape.out_first)};
}

std::vector<gpu::Binding> bindings_of(const Matmul& args, const MatrixPart& part) {
  using gpu::Access;
  return {{part.words, Access::read},
          {part.scales, Access::read},
          {args.step, Access::read},
          {args.x, Access::read},
          {args.out, Access::read_write}};
}

void record_rows4(gpu::Recording& recording, std::string_view name, const Matmul& args,
                  const MatrixPart& part, MatmulShape shape, const Rows4& plan) {
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  const std::uint32_t chunk = div_up(n_groups, plan.n_chunks);
  for (std::uint32_t first = 0; first < n_groups; first += chunk) {
    const std::uint32_t count = std::min(chunk, n_groups - first);
    gpu::Program program = {.body = "matmul_cpu_rows4",
                            .parts = {"step", shape.kind == QuantKind::q4 ? "rows4_q4" : "rows4_q8",
                                      epilogue_part(shape.epilogue)},
                            .consts = shape_consts(shape)};
    program.consts.push_back(gpu::const_u32("FIRST_GROUP", first));
    program.consts.push_back(gpu::const_u32("CHUNK_GROUPS", count));
    program.consts.push_back(gpu::const_u32("WORKGROUP", plan.workgroup));
    shape.first_element = first * k_quant_group;
    shape.n_elements = count * k_quant_group;
    recording.ops.push_back({
        .name = std::string(name),
        .program = std::move(program),
        .bindings = bindings_of(args, part),
        .grid = {.x = plan.n_workgroups},
        .oracle = [shape](std::span<const gpu::HostView> views) { matmul_reference(views, shape); },
        .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
    });
  }
}

// One row on a GPU: a workgroup owns four weight rows.
bool takes_gpu_row(const gpu::Recording& recording, const Matmul& args) {
  return !recording.target.cpu && (recording.max_rows == 1 || args.rows == Rows::last);
}

// Threads that share a weight row's groups: enough workgroups keep a GPU busy with one subgroup each; fewer and longer
// rows are spread over more threads.
std::uint32_t gpu_row_workgroup(const MatmulShape& shape, std::uint32_t n_workgroups) {
  const std::uint32_t n_groups = shape.dim / k_quant_group;
  std::uint32_t workgroup = 32;
  while (workgroup < 256 && workgroup < n_groups && n_workgroups * workgroup < 132u * 1024u) workgroup *= 2;
  return workgroup;
}

void record_gpu_row(gpu::Recording& recording, std::string_view name, const Matmul& args,
                    const MatrixPart& part, const MatmulShape& shape) {
  const std::uint32_t per_workgroup = shape.epilogue == Epilogue::swiglu ? 2 : 4;
  const std::uint32_t n_workgroups = div_up(shape.n_out, per_workgroup);
  gpu::Program program = {.body = "matmul_gpu_row",
                          .parts = {"step", "row_x", epilogue_part(shape.epilogue),
                                    recording.target.subgroups ? "reduce4_subgroup" : "reduce4_workgroup"},
                          .consts = shape_consts(shape)};
  switch (shape.kind) {
    case QuantKind::q4: program.parts.push_back("row_q4"); break;
    case QuantKind::q8: program.parts.push_back("row_q8"); break;
    default: program.parts.insert(program.parts.end(), {"row_any", "quads", weights_part(shape.kind)});
  }
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  program.consts.push_back(gpu::const_u32("WORKGROUP", gpu_row_workgroup(shape, n_workgroups)));
  const gpu::Grid linear = gpu::linear_grid(n_workgroups);
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = bindings_of(args, part),
      .grid = {.x = linear.x, .y = 1, .z = linear.y},
      .oracle = [shape](std::span<const gpu::HostView> views) { matmul_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
  });
}

// Any number of rows: workgroups or threads own a column and a tile of rows.
void record_tiles(gpu::Recording& recording, std::string_view name, const Matmul& args,
                  const MatrixPart& part, const MatmulShape& shape) {
  const gpu::Target& target = recording.target;
  const std::uint32_t tile = args.rows == Rows::all ? matmul_tile(recording.max_rows) : 1;
  const std::uint32_t workgroup = target.cpu ? 16 : 64;
  gpu::Program program = {.body = target.cpu ? "matmul_cpu" : "matmul_gpu",
                          .parts = {"step", shape.rows == Rows::all ? "rows_all" : "rows_last", "quads",
                                    weights_part(shape.kind), epilogue_part(shape.epilogue)},
                          .consts = shape_consts(shape)};
  program.consts.push_back(gpu::const_u32("N_OUT", shape.n_out));
  program.consts.push_back(gpu::const_u32("TILE", tile));
  program.consts.push_back(gpu::const_u32("WORKGROUP", workgroup));
  if (!target.cpu) program.parts.push_back(target.subgroups ? "reduce_subgroup" : "reduce_workgroup");
  const gpu::Grid linear = gpu::linear_grid(target.cpu ? div_up(shape.n_out, workgroup) : shape.n_out);
  gpu::Grid grid = {.x = linear.x, .y = 1, .z = linear.y};
  if (args.rows == Rows::all) {
    grid.rows_axis = gpu::Grid::Axis::y;
    grid.rows_per_workgroup = tile;
  }
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = bindings_of(args, part),
      .grid = grid,
      .oracle = [shape](std::span<const gpu::HostView> views) { matmul_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
  });
}

}  // namespace

std::uint32_t matmul_tile(std::uint32_t max_rows) { return max_rows >= 4 ? 4 : 1; }

void matmul(gpu::Recording& recording, std::string_view name, const Matmul& args) {
  const bool pair = args.epilogue == Epilogue::swiglu;
  for (const MatrixPart& part : args.weights.parts) {
    const MatmulShape shape = {.kind = part.kind,
                               .dim = args.weights.dim,
                               .n_elements = args.weights.dim,
                               .n_out = pair ? part.n_rows / 2 : part.n_rows,
                               .out_stride = pair ? args.weights.rows / 2 : args.weights.rows,
                               .out_first = pair ? part.first_row / 2 : part.first_row,
                               .epilogue = args.epilogue,
                               .rows = args.rows};
    if (const auto plan = plan_rows4(recording, args, part)) {
      record_rows4(recording, name, args, part, shape, *plan);
    } else if (takes_gpu_row(recording, args)) {
      record_gpu_row(recording, name, args, part, shape);
    } else {
      record_tiles(recording, name, args, part, shape);
    }
  }
}

}  // namespace ztvm::kernels
