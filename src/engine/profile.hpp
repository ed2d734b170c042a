#pragma once
// Time of each kind of op of a decoded token, without timestamps: all ops of one kind, of every layer, are run many times
// in one go, and the wall time is shared out. So a figure includes the gap between dependent dispatches, as decode has
// it, and weights come from memory as long as those of all layers exceed the caches.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/model.hpp"
#include "gpu/device.hpp"

namespace ztvm::engine {

// The ops of one decoded token at position `depth`. Blocks: natively only. `now_ms` is a monotonic clock.
Result<std::vector<KernelTime>> profile_decode(gpu::Device& device, const Model& model, std::uint32_t depth,
                                               const std::function<double()>& now_ms);

}  // namespace ztvm::engine
