#pragma once
// Time of each kind of op of a pass by the GPU's clock, the gap before it included, which a timestamp widens by some
// microseconds. The whole pass runs, so that caches hold what they hold in use.
#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "gpu/device.hpp"

namespace ztvm::engine {

// The ops of a pass over `n_rows` tokens at position `depth`, kind by kind; of one token with the head and the choice.
// At most the rows of a prefill chunk, and what the context holds. Blocks: natively only. Errors: unsupported when the
// device was opened without timestamps.
Result<std::vector<KernelTime>> profile_pass(gpu::Device& device, const Model& model, std::uint32_t n_rows,
                                             std::uint32_t depth);

}  // namespace ztvm::engine
