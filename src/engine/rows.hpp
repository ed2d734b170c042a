#pragma once
// Hands the rows of the next pass to the device: the ids and where they stand.
#include <cstdint>
#include <span>

#include "kernels/step.hpp"
#include "model/decoder.hpp"

namespace ztvm::engine {

// Writes `ids` as rows at `step.position`; step.n_rows is set from them.
inline void write_rows(gpu::Device& device, const model::State& state, kernels::Step step,
                       std::span<const std::uint32_t> ids) {
  step.n_rows = static_cast<std::uint32_t>(ids.size());
  device.write(state.step.buffer, 0, std::as_bytes(std::span(&step, 1)));
  device.write(state.tokens.buffer, 0, as_bytes(ids));
}

}  // namespace ztvm::engine
