#include "kernels/delta_rule/delta_rule_chunks.hpp"

namespace ztvm::kernels {
namespace {

using gpu::Access;

void record_prepare(gpu::Recording& recording, std::string_view name, const DeltaRule& args) {
  constexpr std::uint32_t k_lanes = 8;
  constexpr std::uint32_t k_slice = 16;
  gpu::Program program = {
      .body = "delta_rule_prepare",
      .parts = {"step", "gates", "delta_rule_gates", "delta_rule_heads", "delta_rule_chunk_layout"},
      .consts = delta_rule_consts(args.shape)};
  program.consts.push_back(gpu::const_u32("CHUNK", args.chunk));
  program.consts.push_back(gpu::const_u32("LANES", k_lanes));
  program.consts.push_back(gpu::const_u32("SLICE", k_slice));
  program.consts.push_back(gpu::const_u32("WORKGROUP", args.chunk * k_lanes));
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = {{args.step, Access::read},
                   {args.qkv, Access::read},
                   {args.x, Access::read},
                   {args.a_log, Access::read},
                   {args.dt_bias, Access::read},
                   {args.scratch, Access::read_write}},
      .grid = {.x = args.shape.n_value_heads,
               .rows_axis = gpu::Grid::Axis::y,
               .rows_per_workgroup = args.chunk},
      .oracle =
          [shape = args.shape, chunk = args.chunk](std::span<const gpu::HostView> views) {
            delta_rule_prepare_reference(views, shape, chunk);
          },
      // Elements of E are sums over the keys; each of up to `chunk` steps of the inversion adds their errors.
      .tolerance = delta_rule_tolerance(args.shape, args.chunk),
  });
}

void record_chunks(gpu::Recording& recording, std::string_view name, const DeltaRule& args) {
  // Quads of columns of a workgroup, so that its S and two matrices of a chunk fit 16 KiB.
  const std::uint32_t n_quads = args.shape.key_dim <= 128 ? 4 : 2;
  gpu::Program program = {.body = "delta_rule_chunks",
                          .parts = {"step", "delta_rule_heads", "delta_rule_chunk_layout"},
                          .consts = delta_rule_consts(args.shape)};
  program.consts.push_back(gpu::const_u32("CHUNK", args.chunk));
  program.consts.push_back(gpu::const_u32("QUADS", n_quads));
  program.consts.push_back(gpu::const_u32("WORKGROUP", 2 * args.chunk * n_quads));
  recording.ops.push_back({
      .name = std::string(name),
      .program = std::move(program),
      .bindings = {{args.step, Access::read},
                   {args.qkv, Access::read},
                   {args.scratch, Access::read},
                   {args.state, Access::read_write},
                   {args.out, Access::read_write}},
      .grid = {.x = div_up(args.shape.value_dim / 4, n_quads), .y = args.shape.n_value_heads},
      .oracle =
          [shape = args.shape, chunk = args.chunk](std::span<const gpu::HostView> views) {
            delta_rule_chunks_reference(views, shape, chunk);
          },
      // As in the step form.
      .tolerance = delta_rule_tolerance(args.shape, recording.max_rows),
  });
}

}  // namespace

void delta_rule_chunks(gpu::Recording& recording, std::string_view name, const DeltaRule& args) {
  record_prepare(recording, name, args);
  record_chunks(recording, name, args);
}

}  // namespace ztvm::kernels
