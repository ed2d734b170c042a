#include "kernels/quantise_input/quantise_input.hpp"

#include "base/quant_layout.hpp"

namespace ztvm::kernels {

std::uint32_t input_planes(const gpu::Target& target) { return target.int8 ? 1 : 2; }

void quantise_input(gpu::Recording& recording, std::string_view name, const QuantiseInput& args) {
  using gpu::Access;
  constexpr std::uint32_t k_workgroup = 64;
  constexpr std::uint32_t k_threads = 4;  // of a group
  const std::uint32_t n_groups = args.dim / k_quant_group;
  const std::uint32_t planes = input_planes(recording.target);
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = "quantise_input",
                  .parts = {"step", "folds",
                            recording.target.subgroups ? "fours_subgroup" : "fours_workgroup"},
                  .consts = {gpu::const_u32("N_GROUPS", n_groups), gpu::const_u32("PLANES", planes),
                             gpu::const_bool("BY_VECTOR", args.order == QuantisedOrder::by_vector),
                             gpu::const_u32("WORKGROUP", k_workgroup)}},
      .bindings = {{args.step, Access::read},
                   {args.x, Access::read},
                   {args.out.bytes, Access::read_write},
                   {args.out.scales, Access::read_write}},
      .grid = {.x = div_up(n_groups * k_threads, k_workgroup),
               .rows_axis = gpu::Grid::Axis::y,
               .rows_per_workgroup = 1},
      .oracle =
          [dim = args.dim, planes, order = args.order](std::span<const gpu::HostView> views) {
            quantise_input_reference(views, dim, planes, order);
          },
      .tolerance = 0x1p-22f,
  });
}

}  // namespace ztvm::kernels
