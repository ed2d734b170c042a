#include "gpu/tuning.hpp"

#include <algorithm>

namespace ztvm::gpu {

bool take_form(Op& op, std::string_view form) {
  const auto found = std::ranges::find(op.forms, form, &Form::name);
  if (found == op.forms.end()) return false;
  op.program = found->program;
  op.grid = found->grid;
  return true;
}

void record_tuned(Recording& recording, Op op, std::string shape, std::vector<Form> forms) {
  check(!forms.empty(), "an op has a form");
  op.program = forms.front().program;
  op.grid = forms.front().grid;
  op.shape = std::move(shape);
  op.forms = std::move(forms);
  if (recording.tuning) {
    const auto tuned = recording.tuning->find(op.shape);
    if (tuned != recording.tuning->end()) take_form(op, tuned->second.form);
  }
  recording.ops.push_back(std::move(op));
}

}  // namespace ztvm::gpu
