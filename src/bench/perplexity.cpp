#include "bench/perplexity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ztvm::bench {
namespace {

// ln of the sum of exp over logits, in double. Errors: device, where a logit is not finite.
Result<double> log_sum(std::span<const float> logits) {
  const double highest = *std::ranges::max_element(logits);
  double sum = 0.0;
  bool finite = true;
  for (const float logit : logits) {
    finite = finite && std::isfinite(logit);
    sum += std::exp(double{logit} - highest);
  }
  if (finite) return highest + std::log(sum);
  return fail(ErrorCode::device, "The model computed logits that are not finite, so nothing is predicted.");
}

}  // namespace

void Mean::add(double value) {
  ++n_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(n_);
  squares_ += before * (value - mean_);
  largest_ = n_ == 1 ? value : std::max(largest_, value);
}

double Mean::standard_error() const {
  if (n_ < 2) return 0.0;
  const auto n = static_cast<double>(n_);
  return std::sqrt(squares_ / (n - 1.0) / n);
}

double Likelihood::perplexity() const { return std::exp(surprise.value()); }

double Likelihood::perplexity_error() const { return perplexity() * surprise.standard_error(); }

Result<void> Likelihood::add(std::span<const float> logits, std::uint32_t next_id) {
  check(next_id < logits.size(), "the next token is one of the vocabulary");
  auto total = log_sum(logits);
  if (!total) return forward(total);
  surprise.add(*total - logits[next_id]);
  return {};
}

Result<void> Divergence::add(std::span<const float> base, std::span<const float> logits,
                             std::uint32_t next_id) {
  check(base.size() == logits.size() && next_id < logits.size(), "both sets have the same vocabulary");
  auto base_total = log_sum(base);
  if (!base_total) return forward(base_total);
  auto total = log_sum(logits);
  if (!total) return forward(total);
  double sum = 0.0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const double base_log = base[i] - *base_total;
    sum += std::exp(base_log) * (base_log - (logits[i] - *total));
  }
  divergence.add(std::max(sum, 0.0));  // rounding may leave less
  const bool same =
      std::ranges::max_element(base) - base.begin() == std::ranges::max_element(logits) - logits.begin();
  agreement.add(same ? 1.0 : 0.0);
  surprise_ratio.add((base[next_id] - *base_total) - (logits[next_id] - *total));
  return {};
}

}  // namespace ztvm::bench
