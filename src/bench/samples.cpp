#include "bench/samples.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ztvm::bench {

double Samples::median() const {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0;
}

double Samples::spread() const {
  const auto [low, high] = std::ranges::minmax(values);
  return (high - low) / median();
}

void append(Samples& all, const Samples& more) {
  all.values.insert(all.values.end(), more.values.begin(), more.values.end());
}

Json samples_json(const Samples& samples) {
  return {{"median", samples.median()}, {"spread", samples.spread()}, {"values", samples.values}};
}

}  // namespace ztvm::bench
