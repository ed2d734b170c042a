#include "load/transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/in_quotes.hpp"
#include "load/convert_affine.hpp"
#include "load/convert_blocks.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_max_row_bytes = 64ull << 20;

QuantKind affine_kind(std::uint32_t bits) {
  if (bits == 3) return QuantKind::q3;
  return bits == 4 ? QuantKind::q4 : QuantKind::q8;
}

QuantKind matrix_kind(const TensorRecord& tensor) {
  switch (tensor.dtype) {
    case Dtype::f32: return QuantKind::f32;
    case Dtype::f16: return QuantKind::f16;
    case Dtype::bf16: return QuantKind::bf16;
    case Dtype::q4_0:
    case Dtype::q4_1:
    case Dtype::mlc_q4: return QuantKind::q4;
    case Dtype::q5_0:
    case Dtype::q5_1:
    case Dtype::q8_0: return QuantKind::q8;
    case Dtype::q4_k: return QuantKind::q4_k;
    case Dtype::q5_k: return QuantKind::q5_k;
    case Dtype::q6_k: return QuantKind::q6_k;
    case Dtype::affine: return affine_kind(tensor.bits);
  }
  return QuantKind::f32;
}

bool has_affine_kernels(std::uint32_t bits, std::uint32_t group) {
  return (bits == 3 || bits == 4 || bits == 8) && (group == 32 || group == 64 || group == 128);
}

// A row of numbers to f32.
void widen(Dtype dtype, Bytes source, MutableBytes words) {
  for (std::size_t i = 0; i * 4 < words.size(); ++i) {
    const auto bits = load_as<std::uint16_t>(source, i * 2);
    const float value = dtype == Dtype::bf16 ? bfloat_to_float(bits) : half_to_float(bits);
    std::memcpy(words.data() + i * 4, &value, sizeof(value));
  }
}

// Whether no number has all bits of the exponent: no branches, so that the compiler makes vectors of it.
template <typename Word>
bool all_finite(Bytes numbers, Word exponent) {
  bool finite = true;
  for (std::size_t at = 0; at + sizeof(Word) <= numbers.size(); at += sizeof(Word)) {
    Word bits;
    std::memcpy(&bits, numbers.data() + at, sizeof(bits));
    finite &= (bits & exponent) != exponent;
  }
  return finite;
}

bool all_finite(Dtype dtype, Bytes numbers) {
  if (dtype == Dtype::f32) return all_finite<std::uint32_t>(numbers, 0x7F800000u);
  return all_finite<std::uint16_t>(numbers, dtype == Dtype::f16 ? 0x7C00u : 0x7F80u);
}

bool convert_plain(const RowSource& source, QuantKind kind, MutableBytes words) {
  if (kind == QuantKind::f32 && source.dtype != Dtype::f32) {
    widen(source.dtype, source.words, words);
  } else {
    check(source.words.size() == words.size(), "a row of numbers becomes f32 or stays as it is");
    std::memcpy(words.data(), source.words.data(), words.size());
  }
  return all_finite(source.dtype, source.words);
}

}  // namespace

Result<QuantLayout> kernel_layout(const TensorRecord& tensor, std::string_view file) {
  const auto refuse = [&](std::string_view expected) {
    return fail(ErrorCode::unsupported,
                fmt::format("Tensor {} of type {} has shape {}, supported {}, in {}.", in_quotes(tensor.name),
                            info(tensor.dtype).name, shape_text(tensor.shape), expected, file));
  };
  const std::uint64_t dim = tensor.dim();
  if (tensor.shape.size() > 3) return refuse("are matrices, vectors and experts of matrices");
  if (dim > k_max_row_bytes / 4)
    return refuse(fmt::format("are rows of at most {} elements", k_max_row_bytes / 4));
  const auto narrow_dim = static_cast<std::uint32_t>(dim);
  if (tensor.shape.size() == 1) {
    if (!is_plain(tensor.dtype)) return refuse("are vectors of F32, F16 and BF16");
    return QuantLayout{.kind = QuantKind::f32, .dim = narrow_dim};
  }
  std::uint32_t multiple = 1;
  if (tensor.dtype == Dtype::affine) {
    if (!has_affine_kernels(tensor.bits, tensor.group)) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("Tensor {} has {} bits in groups of {}, supported are 3, 4 and 8 bits in groups "
                      "of 32, 64 and 128, in {}.",
                      in_quotes(tensor.name), tensor.bits, tensor.group, file));
    }
    multiple = tensor.group;
  }
  const QuantLayout layout = {.kind = matrix_kind(tensor), .dim = narrow_dim};
  multiple = std::max(multiple, layout.dim_multiple());
  if (dim % multiple != 0) return refuse(fmt::format("are rows of a multiple of {} elements", multiple));
  if (tensor.n_rows() > std::numeric_limits<std::uint32_t>::max()) return refuse("are up to 2^32 - 1 rows");
  return layout;
}

bool convert_row(const RowSource& source, QuantKind kind, MutableBytes words, MutableBytes scales) {
  switch (source.dtype) {
    case Dtype::f32:
    case Dtype::f16:
    case Dtype::bf16: return convert_plain(source, kind, words);
    case Dtype::q4_0: return convert_q4_0(source.words, words, scales);
    case Dtype::q4_1: return convert_q4_1(source.words, words, scales);
    case Dtype::q5_0: return convert_q5_0(source.words, words, scales);
    case Dtype::q5_1: return convert_q5_1(source.words, words, scales);
    case Dtype::q8_0: return convert_q8_0(source.words, words, scales);
    case Dtype::q4_k: return convert_q4_k(source.words, words, scales);
    case Dtype::q5_k: return convert_q5_k(source.words, words, scales);
    case Dtype::q6_k: return convert_q6_k(source.words, words, scales);
    case Dtype::mlc_q4: return convert_mlc_q4(source, words, scales);
    case Dtype::affine: return convert_affine(source, words, scales);
  }
  return false;
}

}  // namespace ztvm::load
