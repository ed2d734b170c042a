#include "kernels/embed/embed.hpp"

namespace ztvm::kernels {

void embed(gpu::Recording& recording, const Embed& args) {
  using gpu::Access;
  const std::uint32_t n_groups = args.table.dim / k_quant_group;
  const std::uint32_t workgroup = recording.target.cpu ? 8 : 32;
  for (const MatrixPart& part : args.table.parts) {
    const QuantKind kind = part.kind;
    const std::uint32_t dim = args.table.dim;
    const std::uint32_t first = part.first_row;
    const std::uint32_t count = part.n_rows;
    recording.ops.push_back({
        .name = "embed",
        .program = {.body = "embed",
                    .parts = {"step", "quads", weights_part(kind)},
                    .consts = {gpu::const_u32("N_GROUPS", n_groups), gpu::const_u32("FIRST_ROW", first),
                               gpu::const_u32("PART_ROWS", count), gpu::const_u32("WORKGROUP", workgroup)}},
        .bindings = {{part.words, Access::read},
                     {part.scales, Access::read},
                     {args.step, Access::read},
                     {args.tokens, Access::read},
                     {args.out, Access::read_write}},
        .grid = {.x = div_up(n_groups, workgroup), .rows_axis = gpu::Grid::Axis::y},
        .oracle =
            [=](std::span<const gpu::HostView> views) { embed_reference(views, kind, dim, first, count); },
        .tolerance = gpu::sum_tolerance(1, gpu::Dtype::f32),
    });
  }
}

}  // namespace ztvm::kernels
