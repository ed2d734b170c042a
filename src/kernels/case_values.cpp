#include "kernels/case_values.hpp"

#include <cmath>
#include <limits>

namespace ztvm::kernels {
namespace {

float make_value(Fill fill, std::size_t i, Random& random) {
  switch (fill) {
    case Fill::zeros: return 0.0f;
    case Fill::constant: return 0.75f;
    case Fill::normal: return random.normal();
    case Fill::uniform: return 2.0f * random.uniform() - 1.0f;
    case Fill::outliers: return random.normal() * (random.below(37) == 0 ? 1000.0f : 1.0f);
    case Fill::denormals: return random.normal() * (i % 3 == 0 ? 1e-40f : i % 3 == 1 ? 1e-6f : 1.0f);
    case Fill::alternating: return std::fabs(random.normal()) * (i % 2 == 0 ? 1.0f : -1.0f);
    case Fill::not_finite: {
      constexpr float k_infinity = std::numeric_limits<float>::infinity();
      if (i % 160 == 3 || i % 160 == 70) return k_infinity;
      if (i % 160 == 90) return -k_infinity;
      return i % 160 == 140 ? std::numeric_limits<float>::quiet_NaN() : random.normal();
    }
    case Fill::integers: return static_cast<float>(random.below(65)) - 32.0f;
  }
  return 0.0f;
}

}  // namespace

std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

float Random::uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

float Random::normal() {
  // The sum of twelve uniform numbers has variance 1; it needs no library function that differs by platform.
  float sum = -6.0f;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum;
}

std::vector<float> make_values(Fill fill, std::size_t n, Random& random) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = make_value(fill, i, random);
  return values;
}

}  // namespace ztvm::kernels
