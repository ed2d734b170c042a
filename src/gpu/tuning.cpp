#include "gpu/tuning.hpp"

#include <algorithm>

namespace ztvm::gpu {
namespace {

bool fits(const Form& form) { return std::max({form.grid.x, form.grid.y, form.grid.z}) <= k_max_axis; }

}  // namespace

bool take_form(Op& op, std::string_view form) {
  const auto found = std::ranges::find(op.forms, form, &Form::name);
  if (found == op.forms.end()) return false;
  op.program = found->program;
  op.grid = found->grid;
  return true;
}

void record_tuned(Recording& recording, Op op, std::string shape, std::vector<Form> forms) {
  std::erase_if(forms, [](const Form& form) { return !fits(form); });
  check(!forms.empty(), "an op has a form whose grid fits");
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
