#pragma once
// The published models' shapes, as their configs give them: for benchmarks and tests with random weights.
#include <span>
#include <string_view>

#include "model/families/registry.hpp"

namespace ztvm::engine {

// The aliases that there are shapes of: phi3, qwen3, qwen35, qwen36, smollm2.
std::span<const std::string_view> true_shape_aliases();

// The family of an alias at its true dimensions, as if read from a checkpoint in transformers' names.
// `n_layers` and `vocab` other than 0 cut it down: a hybrid's layers keep their kinds from the front, and the last one
// is attention. Errors: not_found, listing the aliases.
Result<model::Family> true_shape(std::string_view alias, std::uint32_t n_layers = 0, std::uint32_t vocab = 0);

}  // namespace ztvm::engine
