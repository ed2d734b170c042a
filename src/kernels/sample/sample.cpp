#include "kernels/sample/sample.hpp"

#include <algorithm>

#include "kernels/argmax/argmax.hpp"

namespace ztvm::kernels {
namespace {

std::uint32_t n_slices(std::uint32_t n_valid) { return div_up(n_valid, sample_slice(n_valid)); }

std::vector<gpu::Const> make_consts(std::uint32_t n_valid, std::uint32_t workgroup) {
  const std::uint32_t slices = n_slices(n_valid);
  return {gpu::const_u32("N_VALID", n_valid), gpu::const_u32("SLICE", sample_slice(n_valid)),
          gpu::const_u32("N_SLICES", slices), gpu::const_u32("SLICES_PER_THREAD", div_up(slices, workgroup)),
          gpu::const_u32("WORKGROUP", workgroup)};
}

// A program of one workgroup. On a CPU it has fewer threads, but still enough that none of them exceeds the
// 65,535 loop iterations that llvmpipe allows, whatever the vocabulary.
gpu::Program reducing_program(const gpu::Target& target, std::string_view body, std::uint32_t n_valid) {
  return {.body = body,
          .parts = {"step", target.subgroups ? "reduce_subgroup" : "reduce_workgroup"},
          .consts = make_consts(n_valid, target.cpu ? 128 : 256)};
}

}  // namespace

std::uint32_t sample_slice(std::uint32_t n_valid) {
  constexpr std::uint32_t k_min_slice = 64;
  constexpr std::uint32_t k_max_slices = 1024;
  return std::max(k_min_slice, round_up(div_up(n_valid, k_max_slices), 4u));
}

SampleSizes sample_sizes(std::uint32_t n_valid) {
  const std::size_t slices = n_slices(n_valid);
  return {.maxima = slices * 4,
          .candidates = slices * sample_slice(n_valid),
          .counts = slices * 2,
          .masses = slices};
}

void sample(gpu::Recording& recording, const Sample& args) {
  using gpu::Access;
  const gpu::Target& target = recording.target;
  const std::uint32_t n = args.n_valid;
  find_block_maxima(recording, {.name = "sample maxima",
                                .n_valid = n,
                                .block = sample_slice(n),
                                .logits = args.logits,
                                .candidates = args.maxima});
  recording.ops.push_back({
      .name = "sample cut",
      .program = reducing_program(target, "sample_cut", n),
      .bindings = {{args.maxima, Access::read}, {args.step, Access::read}, {args.bounds, Access::read_write}},
      .grid = {},
      .oracle = [n](std::span<const gpu::HostView> views) { sample_cut_reference(views, n); },
      .tolerance = gpu::sum_tolerance(4, gpu::Dtype::f32),  // log, product, sum, margin
  });
  const std::uint32_t workgroup = target.cpu ? 8 : 32;
  recording.ops.push_back({
      .name = "sample candidates",
      .program = {.body = "sample_candidates", .parts = {"step"}, .consts = make_consts(n, workgroup)},
      .bindings = {{args.logits, Access::read},
                   {args.bounds, Access::read},
                   {args.step, Access::read},
                   {args.weights, Access::read_write},
                   {args.indices, Access::read_write},
                   {args.counts, Access::read_write},
                   {args.masses, Access::read_write}},
      .grid = {.x = div_up(n_slices(n), workgroup)},
      .oracle = [n](std::span<const gpu::HostView> views) { sample_candidates_reference(views, n); },
      // exp(x) is within 3 + 2 |x| ulp and the quotient x within 2.5 ulp, by WGSL's rules. The rms of the weights is
      // at least 1 / sqrt(n_valid), so errors count down to x = -6: (3 + 12 + 15) ulp.
      .tolerance = 32.0f * 0x1p-23f,
  });
  recording.ops.push_back({
      .name = "sample draw",
      .program = reducing_program(target, "sample_draw", n),
      .bindings = {{args.weights, Access::read},
                   {args.indices, Access::read},
                   {args.counts, Access::read},
                   {args.masses, Access::read},
                   {args.step, Access::read_write}},
      .grid = {},
      .oracle = [n](std::span<const gpu::HostView> views) { sample_draw_reference(views, n); },
  });
}

}  // namespace ztvm::kernels
