#pragma once
// Which of its forms an op takes. A kernel offers several where adapters differ in which is fastest; what was measured on
// an adapter (engine/tuner.hpp) decides, and where nothing was, the kernel's own choice.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/op.hpp"

namespace ztvm::gpu {

// What was measured for the ops of one shape.
struct TunedShape {
  std::string form;                          // the one that they take
  std::string own;                           // the kernel's own choice
  std::map<std::string, double> times;       // microseconds an op, of each form that was measured
  std::map<std::string, std::string> wrong;  // forms whose result was not the oracle's, in a sentence
  bool operator==(const TunedShape&) const = default;
};

// Records `op` in the form that recording.tuning has for `shape`; in the first of `forms` where it has none, or one that
// is not offered. Forms with more workgroups on an axis than every device takes are left out.
void record_tuned(Recording& recording, Op op, std::string shape, std::vector<Form> forms);

// Sets op.program and op.grid to those of its form with this name. False: it has none.
bool take_form(Op& op, std::string_view form);

}  // namespace ztvm::gpu
