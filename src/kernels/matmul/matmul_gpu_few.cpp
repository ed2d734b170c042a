// Few rows of x on a GPU in whole numbers, the weights in registers: matmul_gpu_few.wgsl.
#include <fmt/format.h>

#include <array>

#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

constexpr std::uint32_t k_few_lanes = 32;  // that share weight rows

// Names of the shader.
struct FewForm {
  std::uint32_t rows = 0;
  std::uint32_t weight_rows = 0;
  std::uint32_t teams = 0;
};

// The fastest on an H200 first (docs/performance.md): more sums a thread than 32 do not fit its registers.
constexpr std::array k_forms = {
    FewForm{.rows = 8, .weight_rows = 4, .teams = 1}, FewForm{.rows = 8, .weight_rows = 4, .teams = 2},
    FewForm{.rows = 4, .weight_rows = 4, .teams = 1}, FewForm{.rows = 16, .weight_rows = 2, .teams = 1}};

std::uint32_t workgroup_bytes(const FewForm& form) {
  return 4 * form.teams * form.rows * form.weight_rows * (k_few_lanes + 1);
}

}  // namespace

std::vector<gpu::Form> few_rows_forms(const gpu::Recording& recording, const MatmulShape& shape,
                                      const gpu::Program& program) {
  std::vector<gpu::Form> forms;
  if (recording.max_rows > k_few_rows) return forms;
  const std::uint32_t n_mats = shape.epilogue == Epilogue::swiglu ? 2 : 1;
  for (const FewForm& form : k_forms) {
    if (workgroup_bytes(form) > recording.limits.workgroup_bytes) continue;
    gpu::Program with_consts = program;
    with_consts.body = "matmul_gpu_few";
    for (const auto& [constant, value] :
         {std::pair{"TILE_ROWS", form.rows}, {"WEIGHT_ROWS", form.weight_rows}, {"TEAMS", form.teams}}) {
      with_consts.consts.push_back(gpu::const_u32(constant, value));
    }
    forms.push_back({.name = fmt::format("{} rows by {} weight rows, {} team{}", form.rows, form.weight_rows,
                                         form.teams, form.teams == 1 ? "" : "s"),
                     .program = std::move(with_consts),
                     .grid = {.x = div_up(shape.n_out, form.teams * form.weight_rows / n_mats),
                              .rows_axis = gpu::Grid::Axis::y,
                              .rows_per_workgroup = form.rows}});
  }
  return forms;
}

}  // namespace ztvm::kernels
