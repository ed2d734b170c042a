#include "load/transform.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "base/half.hpp"
#include "load/in_quotes.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_max_row_bytes = 64ull << 20;

bool is_finite_half(std::uint16_t half) { return (half & 0x7C00u) != 0x7C00u; }

void store_scale(MutableBytes scales, std::size_t group, std::uint16_t d, std::uint16_t m) {
  const std::uint32_t word = d | (static_cast<std::uint32_t>(m) << 16);
  std::memcpy(scales.data() + group * 4, &word, sizeof(word));
}

// Blocks of f16 d, f16 m, 16 bytes of nibbles in the kernels' order.
bool convert_q4_1(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * 20 < source.size(); ++group) {
    const Bytes block = source.subspan(group * 20, 20);
    const auto d = load_as<std::uint16_t>(block, 0);
    const auto m = load_as<std::uint16_t>(block, 2);
    if (!is_finite_half(d) || !is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    std::memcpy(words.data() + group * 16, block.data() + 4, 16);
  }
  return true;
}

// Blocks of f16 d, 16 bytes of nibbles.
bool convert_q4_0(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * 18 < source.size(); ++group) {
    const Bytes block = source.subspan(group * 18, 18);
    const auto d = load_as<std::uint16_t>(block, 0);
    const std::uint16_t m = float_to_half(-8.0f * half_to_float(d));
    if (!is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    std::memcpy(words.data() + group * 16, block.data() + 2, 16);
  }
  return true;
}

// Blocks of f16 d, 32 signed bytes.
bool convert_q8_0(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * 34 < source.size(); ++group) {
    const Bytes block = source.subspan(group * 34, 34);
    const auto d = load_as<std::uint16_t>(block, 0);
    const std::uint16_t m = float_to_half(-128.0f * half_to_float(d));
    if (!is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    for (std::size_t i = 0; i < 32; ++i) words[group * 32 + i] = block[2 + i] ^ std::byte{0x80};
  }
  return true;
}

float load_float(Dtype dtype, Bytes bytes, std::size_t i) {
  switch (dtype) {
    case Dtype::f16: return half_to_float(load_as<std::uint16_t>(bytes, i * 2));
    case Dtype::bf16: return std::bit_cast<float>(std::uint32_t{load_as<std::uint16_t>(bytes, i * 2)} << 16);
    default: return load_as<float>(bytes, i * 4);
  }
}

void widen(Dtype dtype, Bytes source, MutableBytes words) {
  for (std::size_t i = 0; i * 4 < words.size(); ++i) {
    const float value = load_float(dtype, source, i);
    std::memcpy(words.data() + i * 4, &value, sizeof(value));
  }
}

// Sequential nibbles of 32 weights, each changed by `flip`, to the kernels' order.
void reorder_nibbles(Bytes source, MutableBytes words, std::uint8_t flip) {
  for (std::size_t first = 0; first < source.size(); first += 16) {
    const auto nibble = [&](std::size_t i) {
      const auto pair = static_cast<std::uint8_t>(source[first + i / 2]);
      return static_cast<std::uint8_t>((i % 2 == 0 ? pair & 15 : pair >> 4) ^ flip);
    };
    for (std::size_t i = 0; i < 16; ++i) {
      words[first + i] = static_cast<std::byte>(nibble(i) | (nibble(16 + i) << 4));
    }
  }
}

// (nibble - 7) * s is -s * (15 - nibble) + 8 * s, which f16 holds exactly.
bool convert_mlc_q4(const RowSource& source, MutableBytes words, MutableBytes scales) {
  reorder_nibbles(source.words, words, 15);
  for (std::size_t group = 0; group * 4 < scales.size(); ++group) {
    const float s = load_float(source.scale_dtype, source.scales, group);
    const std::uint16_t m = float_to_half(8.0f * s);
    if (!is_finite_half(m)) return false;
    store_scale(scales, group, float_to_half(-s), m);
  }
  return true;
}

bool convert_affine4(const RowSource& source, MutableBytes words, MutableBytes scales) {
  reorder_nibbles(source.words, words, 0);
  for (std::size_t group = 0; group * 4 < scales.size(); ++group) {
    const std::size_t own = group * k_quant_group / source.group;
    const std::uint16_t d = float_to_half(load_float(source.scale_dtype, source.scales, own));
    const std::uint16_t m = float_to_half(load_float(source.bias_dtype, source.biases, own));
    if (!is_finite_half(d) || !is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
  }
  return true;
}

std::optional<QuantKind> matrix_kind(const TensorRecord& tensor) {
  switch (tensor.dtype) {
    case Dtype::f32: return QuantKind::f32;
    case Dtype::f16: return QuantKind::f16;
    case Dtype::q4_0:
    case Dtype::q4_1:
    case Dtype::mlc_q4: return QuantKind::q4;
    case Dtype::q8_0: return QuantKind::q8;
    case Dtype::affine: return tensor.bits == 4 ? std::optional(QuantKind::q4) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

Result<QuantLayout> kernel_layout(const TensorRecord& tensor, std::string_view file) {
  const auto refuse = [&](std::string_view expected) {
    return fail(ErrorCode::unsupported,
                fmt::format("Tensor {} of type {} has shape {}, supported {}, in {}.", in_quotes(tensor.name),
                            info(tensor.dtype).name, shape_text(tensor.shape), expected, file));
  };
  const std::uint64_t dim = tensor.dim();
  if (tensor.shape.size() > 3) return refuse("are experts, matrices and vectors");
  if (dim > k_max_row_bytes / 4)
    return refuse(fmt::format("are rows of at most {} elements", k_max_row_bytes / 4));
  const auto narrow_dim = static_cast<std::uint32_t>(dim);
  if (tensor.shape.size() == 1) {
    if (tensor.parts.size() > 1 || info(tensor.dtype).block_elements != 1)
      return refuse("are vectors of F32, F16 and BF16");
    return QuantLayout{.kind = QuantKind::f32, .dim = narrow_dim};
  }
  if (dim % k_quant_group != 0)
    return refuse(fmt::format("are rows of a multiple of {} elements", k_quant_group));
  if (tensor.n_rows() > std::numeric_limits<std::uint32_t>::max()) return refuse("are up to 2^32 - 1 rows");
  const auto kind = matrix_kind(tensor);
  if (!kind) return refuse("are other types");
  return QuantLayout{.kind = *kind, .dim = narrow_dim};
}

bool convert_row(const RowSource& source, QuantKind kind, MutableBytes words, MutableBytes scales) {
  switch (source.dtype) {
    case Dtype::q4_0: return convert_q4_0(source.words, words, scales);
    case Dtype::q4_1: return convert_q4_1(source.words, words, scales);
    case Dtype::q8_0: return convert_q8_0(source.words, words, scales);
    case Dtype::mlc_q4: return convert_mlc_q4(source, words, scales);
    case Dtype::affine: return convert_affine4(source, words, scales);
    case Dtype::f32:
    case Dtype::f16:
    case Dtype::bf16:
      if (kind == QuantKind::f32) {
        widen(source.dtype, source.words, words);
      } else {
        std::memcpy(words.data(), source.words.data(), source.words.size());
      }
      return true;
    default: return false;
  }
}

}  // namespace ztvm::load
