#include <bit>
#include <cmath>

#include "base/quant_layout.hpp"
#include "kernels/quantise_input/quantise_input.hpp"

namespace ztvm::kernels {
namespace {

struct Scale {
  float factor = 0.0f;   // v = round(x * factor)
  float inverse = 0.0f;  // x = v * inverse
};

// In float, as the kernel computes it: whole numbers have to be the same.
Scale scale_for(float top, double largest) {
  const auto bits = std::bit_cast<std::uint32_t>(top);
  const int exponent = static_cast<int>(bits >> 23);
  if (exponent < 27 || exponent > 253) return {};
  const double step = (9.0 + ((bits >> 20) & 7)) / 8.0;
  return {.factor = std::ldexp(static_cast<float>(largest / step), 127 - exponent),
          .inverse = std::ldexp(static_cast<float>(step / largest), exponent - 127)};
}

// Where the words of a row are.
struct Layout {
  std::size_t n_groups = 0;  // of a row
  std::uint32_t planes = 0;
  QuantisedOrder order = QuantisedOrder::by_group;

  // Word `j` of plane `plane` of a group, counted over all rows.
  std::size_t word_at(std::size_t group, std::uint32_t plane, std::uint32_t j) const {
    const std::size_t n_vectors = std::size_t{2} * planes;
    const std::size_t vector = 2 * plane + j / 4;
    const std::size_t in_row = order == QuantisedOrder::by_group ? group % n_groups * n_vectors + vector
                                                                 : vector * n_groups + group % n_groups;
    return 4 * (group / n_groups * n_groups * n_vectors + in_row) + j % 4;
  }
};

}  // namespace

void quantise_input_reference(std::span<const gpu::HostView> views, std::uint32_t dim, std::uint32_t planes,
                              QuantisedOrder order) {
  const Layout layout = {.n_groups = dim / k_quant_group, .planes = planes, .order = order};
  const double largest = planes == 2 ? 32512.0 : 127.0;
  const std::size_t n_groups = std::size_t{load_step(views[0]).n_rows} * (dim / k_quant_group);
  for (std::size_t group = 0; group < n_groups; ++group) {
    std::array<float, k_quant_group> x{};
    float top = 0.0f;
    float total = 0.0f;  // of eights that are not finite
    for (std::size_t eight = 0; eight < x.size(); eight += 8) {
      float sum_of_eight = 0.0f;
      for (std::size_t i = eight; i < eight + 8; ++i) {
        x[i] = views[1].load(group * k_quant_group + i);
        top = std::max(top, std::abs(x[i]));
        sum_of_eight += x[i];
      }
      if (!std::isfinite(sum_of_eight)) total += sum_of_eight;
    }
    const bool finite = std::isfinite(total);
    const Scale scale = finite ? scale_for(top, largest) : Scale{};
    int sum = 0;
    for (std::uint32_t j = 0; j < 8; ++j) {
      std::array<std::uint32_t, 2> words{};
      for (std::uint32_t b = 0; b < 4; ++b) {
        const int v = finite ? static_cast<int>(std::nearbyint(x[4 * j + b] * scale.factor)) : 0;
        sum += v;
        const int high = planes == 2 ? (v + 128) >> 8 : v;
        words[0] |= (static_cast<std::uint32_t>(high) & 0xFF) << (8 * b);
        words[1] |= (static_cast<std::uint32_t>(v - high * 256) & 0xFF) << (8 * b);
      }
      for (std::uint32_t plane = 0; plane < planes; ++plane)
        views[2].set_word(layout.word_at(group, plane, j), words[plane]);
    }
    views[3].store(2 * group, finite ? scale.inverse : total);
    views[3].store(2 * group + 1, finite ? scale.inverse * static_cast<float>(sum) : total);
  }
}

void load_quantised_row(const gpu::HostView& bytes, const gpu::HostView& scales, std::uint32_t planes,
                        QuantisedOrder order, std::size_t row, std::span<float> out) {
  const Layout layout = {.n_groups = out.size() / k_quant_group, .planes = planes, .order = order};
  const std::size_t first_group = row * (out.size() / k_quant_group);
  const auto byte_of = [](std::uint32_t word, std::size_t b) {
    return static_cast<std::int8_t>(static_cast<std::uint8_t>(word >> (8 * b)));
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t group = first_group + i / k_quant_group;
    const auto j = static_cast<std::uint32_t>(i % k_quant_group / 4);
    int v = byte_of(bytes.word(layout.word_at(group, 0, j)), i % 4);
    if (planes == 2) v = 256 * v + byte_of(bytes.word(layout.word_at(group, 1, j)), i % 4);
    out[i] = scales.load(2 * group) * static_cast<float>(v);
  }
}

}  // namespace ztvm::kernels
