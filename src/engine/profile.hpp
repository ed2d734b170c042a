#pragma once
// Time of each kind of op of a decoded token by the GPU's clock, the gap before it included. The whole token runs, so
// that caches hold what they hold in decode.
#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "gpu/device.hpp"

namespace ztvm::engine {

// The ops of one decoded token at position `depth`, kind by kind. Blocks: natively only. Errors: unsupported when the
// device was opened without timestamps.
Result<std::vector<KernelTime>> profile_decode(gpu::Device& device, const Model& model, std::uint32_t depth);

}  // namespace ztvm::engine
