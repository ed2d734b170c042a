#pragma once
// Repeated measurements of one figure.
#include <vector>

#include "base/json.hpp"

namespace ztvm::bench {

struct Samples {
  std::vector<double> values;
  double median() const;
  double spread() const;  // (largest - smallest) / median
};

// Adds the values of `more` behind those of `all`.
void append(Samples& all, const Samples& more);

Json samples_json(const Samples& samples);

}  // namespace ztvm::bench
