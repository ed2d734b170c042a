#pragma once
// How well logits predict a text, and how far they are from those of another set: what an option costs in quality.
// Terms as elsewhere: perplexity = exp of the mean of -ln p(next token); Kullback-Leibler divergence of the next token's
// distribution from the base's, sum of p_base ln(p_base / p), in nats; agreement: the same likeliest token.
#include <cstdint>
#include <span>

#include "base/error.hpp"

namespace ztvm::bench {

// Mean of values that are given one by one, and the standard error of it.
class Mean {
 public:
  void add(double value);
  std::uint64_t n() const { return n_; }
  double value() const { return mean_; }
  double standard_error() const;  // 0 for fewer than two values
  double largest() const { return largest_; }

 private:
  std::uint64_t n_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;  // of differences from the mean (Welford 1962)
  double largest_ = 0.0;
};

struct Likelihood {
  Mean surprise;  // -ln p(next token)
  double perplexity() const;
  double perplexity_error() const;  // one standard error, to first order
  // Errors: device, where a logit is not finite.
  Result<void> add(std::span<const float> logits, std::uint32_t next_id);
};

struct Divergence {
  Mean divergence;  // of each position
  Mean agreement;   // 1 or 0 of each position
  Mean
      surprise_ratio;  // ln p_base(next token) - ln p(next token): its mean is the logarithm of the perplexities' ratio
  // Both [n] of the same position. Errors: device, where a logit is not finite.
  Result<void> add(std::span<const float> base, std::span<const float> logits, std::uint32_t next_id);
};

}  // namespace ztvm::bench
