#pragma once
// Makes and owns the buffers of one case. Errors are kept, so that a case reads as a list of tensors.
#include <span>
#include <string>
#include <vector>

#include "kernels/case_values.hpp"
#include "kernels/matrix.hpp"
#include "kernels/quantise_input/quantise_input.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

class CaseBuilder {
 public:
  CaseBuilder(gpu::Device& device, const gpu::Target& target, std::uint64_t seed)
      : device_(device), target_(target), random_(seed) {}

  gpu::Dtype activation() const { return target_.f16 ? gpu::Dtype::f16 : gpu::Dtype::f32; }
  gpu::Limits limits() const { return gpu::limits_of(device_.caps()); }
  Random& random() { return random_; }

  // A tensor of f32, f16 or i8_groups.
  gpu::Tensor tensor(gpu::Dtype dtype, std::span<const float> values);
  gpu::Tensor tensor(gpu::Dtype dtype, std::size_t n, Fill fill) {
    return tensor(dtype, make_values(fill, n, random_));
  }
  gpu::Tensor words(std::span<const std::uint32_t> values);  // u32
  // `n` random words, for outputs: a kernel that leaves an element out, or writes beside it, is seen.
  gpu::Tensor stale_words(std::size_t n);
  // Memory for `max_rows` rows of `dim` elements in whole numbers, with something else in it.
  QuantisedInput quantised_input(std::uint32_t max_rows, std::uint32_t dim);
  // The pass runs over step.n_rows rows.
  gpu::Tensor step(const Step& step);
  // A page table that is a permutation of 0..n_pages-1.
  gpu::Tensor pages(std::uint32_t n_pages);
  // [rows, top_k] experts, different ones in a row, each below n_candidates.
  gpu::Tensor expert_ids(std::uint32_t rows, std::uint32_t top_k, std::uint32_t n_candidates);
  // A matrix [rows, dim] in `n_parts` buffer pairs of whole units of `unit_rows` rows. Quantised: random levels and
  // sub-scales, and scales made of `fill`; with constant and integers the scale is a power of two.
  Matrix matrix(QuantKind kind, std::uint32_t rows, std::uint32_t dim, Fill fill, std::uint32_t n_parts = 1,
                std::uint32_t unit_rows = 1);
  // One part of `rows_per_part` rows for each kind.
  Matrix mixed_matrix(std::span<const QuantKind> kinds, std::uint32_t rows_per_part, std::uint32_t dim,
                      Fill fill);

  std::uint32_t n_rows() const { return n_rows_; }
  // Errors: out_of_memory, from the first buffer that could not be made.
  const Result<void>& status() const { return status_; }

 private:
  gpu::Tensor upload(Bytes bytes, gpu::Dtype dtype);
  MatrixPart matrix_part(QuantKind kind, std::uint32_t rows, std::uint32_t dim, Fill fill);

  gpu::Device& device_;
  gpu::Target target_;
  Random random_;
  std::uint32_t n_rows_ = 1;
  std::vector<gpu::Buffer> buffers_;
  Result<void> status_;
};

}  // namespace ztvm::kernels
