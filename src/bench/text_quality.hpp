#pragma once
// Runs a text through a model and, beside it, through a base: the same weights computed with other options.
// The text is cut into windows, each of which starts from an empty cache, and every token of a window but its first is
// predicted from those before it. Blocks, so natively only.
#include <cstdint>
#include <functional>
#include <span>

#include "bench/perplexity.hpp"
#include "engine/engine.hpp"

namespace ztvm::bench {

struct ScoredEngine {
  engine::Engine* engine = nullptr;  // ready; none: there is no base
  std::uint32_t max_rows = 0;        // of a pass: 0 as prefill has them, 1 as decode
};

struct TextQuality {
  Likelihood measured;
  Likelihood base;        // empty without a base
  Divergence divergence;  // of the measured from the base; empty without one
  std::uint32_t n_windows = 0;
};

struct QualityOptions {
  std::uint32_t window = 512;                                // tokens, at least 2
  std::function<void(const TextQuality& so_far)> on_window;  // may be empty
};

// Keeps the base's logits of a window meanwhile: window x vocabulary x 4 bytes.
// Errors: invalid_argument for fewer than two ids; context_full for a window beyond the context; the device's.
Result<TextQuality> measure_quality(ScoredEngine measured, ScoredEngine base,
                                    std::span<const std::uint32_t> ids, const QualityOptions& options);

}  // namespace ztvm::bench
