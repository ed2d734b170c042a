#include "bench/text_quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ztvm::bench {
namespace {

using Ids = std::span<const std::uint32_t>;

// Logits of one window, one row a token but for the last, whose prediction nothing is held against.
struct WindowLogits {
  std::vector<float> values;
  std::size_t n_ids = 0;

  std::span<const float> row(std::size_t position) const {
    return std::span(values).subspan(position * n_ids, n_ids);
  }
};

Result<WindowLogits> base_logits(const ScoredEngine& base, Ids window) {
  WindowLogits all;
  if (base.engine == nullptr) return all;
  auto scored = base.engine->score(window, base.max_rows,
                                   [&](std::size_t position, std::span<const float> logits) -> Result<void> {
                                     if (position + 1 == window.size()) return {};
                                     all.n_ids = logits.size();
                                     all.values.reserve((window.size() - 1) * all.n_ids);
                                     all.values.insert(all.values.end(), logits.begin(), logits.end());
                                     return {};
                                   });
  if (!scored) return forward(scored);
  return all;
}

Result<void> measure_window(const ScoredEngine& measured, const ScoredEngine& base, Ids window,
                            TextQuality& quality) {
  const auto base_rows = base_logits(base, window);
  if (!base_rows) return std::unexpected(base_rows.error());
  const auto take = [&](std::size_t position, std::span<const float> logits) -> Result<void> {
    if (position + 1 == window.size()) return {};
    const std::uint32_t next_id = window[position + 1];
    if (auto added = quality.measured.add(logits, next_id); !added) return added;
    if (base.engine == nullptr) return {};
    if (auto added = quality.base.add(base_rows->row(position), next_id); !added) return added;
    return quality.divergence.add(base_rows->row(position), logits, next_id);
  };
  return measured.engine->score(window, measured.max_rows, take);
}

}  // namespace

Result<TextQuality> measure_quality(ScoredEngine measured, ScoredEngine base, Ids ids,
                                    const QualityOptions& options) {
  check(options.window >= 2, "a window has a token to predict");
  if (ids.size() < 2) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The text has {} tokens, but at least 2 are needed to predict one.", ids.size()));
  }
  TextQuality quality;
  for (std::size_t first = 0; first + 1 < ids.size(); first += options.window) {
    const Ids window = ids.subspan(first, std::min<std::size_t>(options.window, ids.size() - first));
    if (auto done = measure_window(measured, base, window, quality); !done) return forward(done);
    ++quality.n_windows;
    if (options.on_window) options.on_window(quality);
  }
  return quality;
}

}  // namespace ztvm::bench
