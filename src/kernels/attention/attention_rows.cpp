#include "kernels/attention/attention_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/row_counts.hpp"

namespace ztvm::kernels {
namespace {

// The constants of the shader.
struct RowsForm {
  std::uint32_t queries = 0;      // rows of a workgroup
  std::uint32_t block = 0;        // keys in workgroup memory at a time
  std::uint32_t row_threads = 0;  // that share the rows for the scores, each with two keys
  std::uint32_t out_groups = 0;   // of head_dim / 4 threads, the workgroup; they share the rows of the output
  std::uint32_t parts = 0;        // threads that look after the weights of a row
};

// What a form is made from.
struct Aim {
  std::uint32_t queries = 0;
  std::uint32_t row_threads = 0;
};

// In order of speed, measured on an H200 (docs/performance.md); little workgroup memory wins, because more workgroups run
// beside each other. The last ones are for wide heads and little memory.
constexpr std::array k_aims = {Aim{32, 16}, Aim{16, 16}, Aim{8, 8}, Aim{4, 4}};
constexpr std::array k_some_rows_aims = {Aim{16, 8}, Aim{16, 16}, Aim{8, 8}, Aim{4, 4}};

constexpr std::uint32_t k_keys_each = 2;  // of a thread's scores

constexpr std::uint32_t whole_fours(std::uint32_t n) { return n / 4 * 4; }

// Bytes of the shader's workgroup variables.
std::uint32_t workgroup_bytes(const RowsForm& form, std::uint32_t head_dim, bool f16) {
  const std::uint32_t element_bytes = f16 ? 2 : 4;
  const std::uint32_t row_bytes = (head_dim + 4) * element_bytes;
  return (form.queries + form.block) * row_bytes + form.block * 4 + form.queries * form.block * 4 +
         form.queries * form.parts * 4 + form.queries * 4;
}

RowsForm make_form(const Aim& aim, std::uint32_t block, std::uint32_t out_groups, std::uint32_t workgroup) {
  RowsForm form = {.queries = aim.queries,
                   .block = block,
                   .row_threads = aim.row_threads,
                   .out_groups = out_groups,
                   .parts = std::max(1u, workgroup / aim.queries)};
  while (block / k_keys_each % form.parts != 0) --form.parts;
  return form;
}

// The largest block of keys that fits the device; a block of 0: none does.
RowsForm fit_form(const gpu::Recording& recording, std::uint32_t head_dim, const Aim& aim) {
  const std::uint32_t quads = head_dim / 4;
  // Four groups, of narrow heads more, so that a workgroup has 64 threads.
  std::uint32_t out_groups = 4;
  while (out_groups * quads < 64 && out_groups * 2 <= aim.queries) out_groups *= 2;
  while (out_groups * quads > recording.limits.workgroup_threads) out_groups /= 2;
  const std::uint32_t workgroup = out_groups * quads;
  std::uint32_t block = whole_fours(workgroup / aim.row_threads * k_keys_each);
  for (; block > 0; block = whole_fours(block / 2)) {
    const RowsForm form = make_form(aim, block, out_groups, workgroup);
    if (workgroup_bytes(form, head_dim, recording.target.f16) <= recording.limits.workgroup_bytes)
      return form;
  }
  return {};
}

}  // namespace

std::vector<gpu::Form> attention_rows_forms(const gpu::Recording& recording, const AttentionShape& shape,
                                            const gpu::Program& program) {
  std::vector<gpu::Form> forms;
  for (const Aim& aim : recording.max_rows <= k_some_rows ? k_some_rows_aims : k_aims) {
    const RowsForm form = fit_form(recording, shape.head_dim, aim);
    if (form.block == 0) continue;
    gpu::Program with_consts = program;
    with_consts.consts.insert(
        with_consts.consts.end(),
        {gpu::const_u32("QUERIES", form.queries), gpu::const_u32("BLOCK", form.block),
         gpu::const_u32("ROW_THREADS", form.row_threads), gpu::const_u32("OUT_GROUPS", form.out_groups),
         gpu::const_u32("PARTS", form.parts)});
    forms.push_back(
        {.name = fmt::format("{} rows by {} keys, {} threads share the rows", form.queries, form.block,
                             form.row_threads),
         .program = std::move(with_consts),
         .grid = {.x = shape.n_heads, .rows_axis = gpu::Grid::Axis::y, .rows_per_workgroup = form.queries}});
  }
  return forms;
}

}  // namespace ztvm::kernels
