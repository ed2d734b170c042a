// Holds what a kernel wrote against what its oracle did.
#include <fmt/format.h>

#include <cmath>

#include "base/int8_groups.hpp"
#include "gpu/executor.hpp"

namespace ztvm::gpu {
namespace {

// Of the finite values that are not zero: a cache is mostly empty, and its values are no smaller for that; one that
// overflowed must not make every other one right.
double rms(const HostView& view) {
  double sum = 0.0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < view.n_elements(); ++i) {
    const double value = view.load(i);
    if (value == 0.0 || !std::isfinite(value)) continue;
    sum += value * value;
    ++n;
  }
  return n == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(n));
}

// How far apart two elements are and may be; u32 must be equal, and what is not finite must be the same.
struct Distance {
  double got = 0.0;
  double want = 0.0;
  double allowed = 0.0;
  bool fine() const {
    return std::abs(got - want) <= allowed || (std::isnan(got) && std::isnan(want)) || got == want;
  }
};

// Rounding to a level turns the least difference into a whole step where a value lies between two, which few of a group
// do by chance: so many of its levels may differ, by one. A kernel that rounds otherwise differs in half of them.
constexpr std::size_t k_levels_that_may_differ = 4;

Distance int8_distance(const HostView& got, const HostView& want, std::size_t i, double scale,
                       double tolerance) {
  const std::size_t group = i / k_int8_group;
  if (i % k_int8_group == 0) {
    const double wanted = 127.0 * double{int8_scale(want.bytes, group)};
    const Distance top = {127.0 * double{int8_scale(got.bytes, group)}, wanted,
                          std::isfinite(wanted) ? tolerance * (wanted + scale) : 0.0};
    if (!top.fine()) return top;
  }
  const auto differ = [&](std::size_t k) { return int8_level(got.bytes, k) != int8_level(want.bytes, k); };
  Distance level = {double(int8_level(got.bytes, i)), double(int8_level(want.bytes, i)), 0.0};
  if (!differ(i)) return level;
  std::size_t n_different = 0;
  for (std::size_t k = group * k_int8_group; k < (group + 1) * k_int8_group; ++k) n_different += differ(k);
  level.allowed = n_different <= k_levels_that_may_differ ? 1.0 : 0.0;
  return level;
}

Distance distance(const HostView& got, const HostView& want, std::size_t i, double scale, double tolerance) {
  if (got.dtype == Dtype::u32) return {double(got.word(i)), double(want.word(i)), 0.0};
  if (got.dtype == Dtype::i8_groups) return int8_distance(got, want, i, scale, tolerance);
  const double wanted = want.load(i);
  return {got.load(i), wanted, std::isfinite(wanted) ? tolerance * (std::abs(wanted) + scale) : 0.0};
}

}  // namespace

std::optional<Mismatch> compare(const Op& op, std::span<const HostView> got, std::span<const HostView> want) {
  for (std::size_t b = 0; b < op.bindings.size(); ++b) {
    if (op.bindings[b].access != Access::read_write) continue;
    const double scale = got[b].dtype == Dtype::u32 ? 0.0 : rms(want[b]);
    Mismatch mismatch{.op = op.name, .binding = b};
    double worst = 0.0;
    for (std::size_t i = 0; i < got[b].n_elements(); ++i) {
      const Distance d = distance(got[b], want[b], i, scale, op.tolerance);
      if (d.fine()) continue;
      ++mismatch.n_wrong;
      const double excess = std::isfinite(d.got) ? std::abs(d.got - d.want) / (d.allowed + 1e-30) : INFINITY;
      if (mismatch.n_wrong > 1 && !(excess > worst)) continue;
      worst = excess;
      mismatch.element = i;
      mismatch.got = d.got;
      mismatch.want = d.want;
      mismatch.allowed = d.allowed;
    }
    if (mismatch.n_wrong > 0) return mismatch;
  }
  return std::nullopt;
}

std::string describe(const Mismatch& m) {
  return fmt::format(
      "Op \"{}\" differs in {} elements of binding {}; the worst is element {}: got {}, expected {} within "
      "{}.",
      m.op, m.n_wrong, m.binding, m.element, m.got, m.want, m.allowed);
}

}  // namespace ztvm::gpu
