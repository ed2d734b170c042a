#pragma once
// The C++ twin of wgsl/step.wgsl, and access to it for oracles.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gpu/op.hpp"

namespace ztvm::kernels {

inline constexpr std::uint32_t k_ring_tokens = 64;

struct Step {
  std::uint32_t n_rows = 0;
  std::uint32_t position = 0;
  std::uint32_t n_chosen = 0;
  std::uint32_t n_not_finite = 0;
  float temperature = 0.0f;
  float top_p = 1.0f;
  float min_p = 0.0f;
  float repeat_penalty = 1.0f;
  std::uint32_t top_k = 0;
  std::uint32_t seed_low = 0;
  std::uint32_t seed_high = 0;
  std::uint32_t choice = 0;
  std::array<std::uint32_t, k_ring_tokens> ring{};
};
static_assert(sizeof(Step) == 4 * (12 + k_ring_tokens));

inline Step load_step(const gpu::HostView& view) { return load_as<Step>(view.bytes, 0); }
inline void store_step(const gpu::HostView& view, const Step& step) {
  std::memcpy(view.bytes.data(), &step, sizeof(Step));
}

// Which rows of a pass a kernel works on.
enum class Rows : std::uint8_t { all, last };

}  // namespace ztvm::kernels
