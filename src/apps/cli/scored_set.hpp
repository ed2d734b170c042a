#pragma once
// One side of a comparison of `zerotvm perplexity`: a model with all that decides how it is computed.
#include <cstdint>
#include <span>
#include <string>

#include "apps/loaded_model.hpp"

namespace ztvm::app {

struct ScoredSet {
  ModelOptions model;
  std::uint32_t max_rows = 0;  // of a pass; 0: as prefill has them
};

// The set with changes "KEY=VALUE" of kv, kernels, backend and rows.
// Errors: invalid_argument for a key or a value that is not known, and where nothing changes.
Result<ScoredSet> change_set(const ScoredSet& set, std::span<const std::string> changes);

// "cpu f32, kv int8, 1 row a pass".
std::string describe(const ScoredSet& set, const gpu::Caps& caps);

}  // namespace ztvm::app
