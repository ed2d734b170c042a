#pragma once
// Tensors that the plan of a model leaves over: a sign that its config describes another model than its files hold.
#include <span>

#include "load/checkpoint.hpp"
#include "load/upload_plan.hpp"
#include "model/families/family.hpp"

namespace ztvm::model {

// Refuses a checkpoint with a tensor that `steps` do not read: a layer beyond the last, a shared expert, a bias. Left
// over without harm are those that the family calls unused. Error: unsupported, naming tensor and file.
Result<void> check_all_used(const load::Checkpoint& checkpoint, std::span<const load::UploadStep> steps,
                            const Family& family);

}  // namespace ztvm::model
