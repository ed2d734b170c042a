#include "load/transform.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

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

void widen_f16(Bytes source, MutableBytes words) {
  for (std::size_t i = 0; i * 2 < source.size(); ++i) {
    const float value = half_to_float(load_as<std::uint16_t>(source, i * 2));
    std::memcpy(words.data() + i * 4, &value, sizeof(value));
  }
}

QuantKind matrix_kind(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return QuantKind::f32;
    case Dtype::f16: return QuantKind::f16;
    case Dtype::q4_0:
    case Dtype::q4_1: return QuantKind::q4;
    case Dtype::q8_0: return QuantKind::q8;
    default: break;
  }
  return QuantKind::f32;
}

}  // namespace

Result<QuantLayout> kernel_layout(const TensorRecord& tensor, std::string_view file) {
  const auto refuse = [&](std::string_view expected) {
    return fail(ErrorCode::unsupported,
                fmt::format("Tensor {} of type {} has shape {}, supported {}, in {}.", in_quotes(tensor.name),
                            info(tensor.dtype).name, shape_text(tensor.shape), expected, file));
  };
  const std::uint64_t dim = tensor.dim();
  if (tensor.shape.size() > 2) return refuse("are matrices and vectors");
  if (dim > k_max_row_bytes / 4)
    return refuse(fmt::format("are rows of at most {} elements", k_max_row_bytes / 4));
  const auto narrow_dim = static_cast<std::uint32_t>(dim);
  if (tensor.shape.size() == 1) {
    if (info(tensor.dtype).block_elements != 1) return refuse("are vectors of F32 and F16");
    return QuantLayout{.kind = QuantKind::f32, .dim = narrow_dim};
  }
  if (dim % k_quant_group != 0)
    return refuse(fmt::format("are rows of a multiple of {} elements", k_quant_group));
  if (tensor.n_rows() > std::numeric_limits<std::uint32_t>::max()) return refuse("are up to 2^32 - 1 rows");
  return QuantLayout{.kind = matrix_kind(tensor.dtype), .dim = narrow_dim};
}

bool convert_row(Dtype dtype, QuantKind kind, Bytes source, MutableBytes words, MutableBytes scales) {
  switch (dtype) {
    case Dtype::q4_0: return convert_q4_0(source, words, scales);
    case Dtype::q4_1: return convert_q4_1(source, words, scales);
    case Dtype::q8_0: return convert_q8_0(source, words, scales);
    case Dtype::f16:
      if (kind == QuantKind::f32) {
        widen_f16(source, words);
        return true;
      }
      [[fallthrough]];
    case Dtype::f32: std::memcpy(words.data(), source.data(), source.size()); return true;
    default: break;
  }
  return false;
}

}  // namespace ztvm::load
