// Pairs by group in tiles on a GPU, in whole numbers: the tiles of matmul_gpu_integer.wgsl, whose rows are an expert's pairs.
#include "kernels/expert_matmul/expert_matmul_forms.hpp"
#include "kernels/integer_tile.hpp"

namespace ztvm::kernels {
namespace {

// Rows for most experts' pairs (512 rows choose 8 of 256: 16 on average), so that weights are unpacked once; those that
// lack are left out four at a time. 64 threads and 10 KiB: every device has them, and many workgroups fit a core. Chosen by
// counting, not measured.
constexpr IntegerTile k_tile = {.rows = 32, .columns = 64, .thread_rows = 8, .teams = 1, .stage = 2};

}  // namespace

bool takes_integer_experts(const gpu::Recording& recording, const ExpertMatmul& args, QuantKind kind) {
  return !recording.target.cpu && args.groups && args.quantised && !levels_parts(kind).empty();
}

void record_quantised_pairs(gpu::Recording& recording, std::string_view name, const ExpertMatmul& args) {
  // The pairs of a row follow each other, so that they are one long row.
  const std::uint32_t rows_of_x = args.input == ExpertInput::pairs ? args.top_k : 1;
  quantise_input(
      recording, std::string(name) + " in whole numbers",
      {.dim = rows_of_x * args.weights.dim, .step = args.step, .x = args.x, .out = *args.quantised});
}

void record_integer_experts(gpu::Recording& recording, std::string_view name, const ExpertMatmul& args,
                            const MatrixPart& part, const ExpertMatmulShape& whole_shape) {
  using gpu::Access;
  ExpertMatmulShape shape = whole_shape;
  shape.planes = input_planes(recording.target);
  const bool pair = n_mats(shape) == 2;
  gpu::Op op = {
      .name = std::string(name),
      .program = {.body = "matmul_gpu_integer", .parts = levels_parts(shape.kind), .consts = {}},
      .bindings = {{part.words, Access::read},
                   {part.scales, Access::read},
                   {args.step, Access::read},
                   {args.quantised->bytes, Access::read},
                   {args.out, Access::read_write},
                   {args.groups->offsets, Access::read},
                   {args.groups->order, Access::read},
                   {args.quantised->scales, Access::read}},
      // y: the tiles that rows_of_experts.wgsl numbers.
      .grid = {.x = div_up(shape.n_out, k_tile.columns / n_mats(shape)),
               .y = recording.max_rows * shape.top_k / k_tile.rows + shape.n_experts},
      .oracle = [shape](std::span<const gpu::HostView> views) { expert_matmul_reference(views, shape); },
      .tolerance = gpu::sum_tolerance(shape.dim, args.out.dtype),
  };
  check(op.grid.y <= gpu::k_max_axis, "the tiles of all experts fit one grid axis");
  op.program.parts.insert(op.program.parts.end(), {"step", "weight_row", "tile_rows", "rows_of_experts",
                                                   pair ? "finish_swiglu" : "finish_f32"});
  for (const auto& [constant, value] : {std::pair{"N_GROUPS", shape.dim / k_quant_group},
                                        {"N_OUT", shape.n_out},
                                        {"N_MATS", n_mats(shape)},
                                        {"PAIR_OFFSET", pair ? shape.n_out : 0},
                                        {"OUT_STRIDE", shape.n_out},
                                        {"OUT_FIRST", 0},
                                        {"FIRST_EXPERT", shape.first_expert},
                                        {"N_EXPERTS", shape.n_experts},
                                        {"PAIRS_PER_X", shape.input == ExpertInput::rows ? shape.top_k : 1},
                                        {"PLANES", shape.planes},
                                        {"X_SCALES", 7}}) {
    op.program.consts.push_back(gpu::const_u32(constant, value));
  }
  add_tile_consts(op.program, k_tile);
  op.program.consts.push_back(gpu::const_bool("BY_VECTOR", false));
  recording.ops.push_back(std::move(op));
}

}  // namespace ztvm::kernels
