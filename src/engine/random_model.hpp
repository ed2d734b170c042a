#pragma once
// A model of any family with random weights, made on its device without a file: for benchmarks, and for tests at true
// dimensions. Its numbers are harmless (activations stay of order 1) and the same for the same seed.
#include <cstdint>
#include <memory>

#include "engine/model.hpp"
#include "gpu/device.hpp"

namespace ztvm::engine {

// The plan alone: nothing is allocated. Errors: those of plan_model().
Result<ModelPlan> plan_random_model(const gpu::Caps& caps, model::Family family, const LoadOptions& options);

// Matrices are 4 bits in groups of 32 (as MLC's q4f16_1); the router of experts is 8 bits (as in MLX builds).
// Errors: those of plan_model() and of allocation.
Result<std::unique_ptr<Model>> make_random_model(gpu::Device& device, model::Family family,
                                                 const LoadOptions& options, std::uint64_t seed = 1);

}  // namespace ztvm::engine
