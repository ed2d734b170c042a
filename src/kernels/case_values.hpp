#pragma once
// Values that cases are made of: a small deterministic generator, and fills that make hidden errors visible.
#include <cstdint>
#include <vector>

namespace ztvm::kernels {

// SplitMix64 (Steele, Lea and Flood 2014): the same values on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(next() >> 32) % limit; }
  float uniform();  // [0, 1)
  float normal();   // mean 0, variance 1, |value| at most 6

 private:
  std::uint64_t state_;
};

// Every value but the f32 denormals is finite and normal in f16 too.
enum class Fill : std::uint8_t {
  zeros,
  constant,     // 0.75
  normal,       // mean 0, variance 1
  uniform,      // [-1, 1)
  outliers,     // normal, and now and then a thousand times that
  denormals,    // normal, mixed with values that are denormal in f32 or in f16
  alternating,  // normal magnitudes, signs + - + -
  not_finite,   // normal, with infinities of both signs and NaN, alone and together in a group of 32
  integers,     // -32 to 32: sums of products with small integers are exact in f32, in any order
};

std::vector<float> make_values(Fill fill, std::size_t n, Random& random);

}  // namespace ztvm::kernels
