#include "model/leftover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/in_quotes.hpp"

namespace ztvm::model {
namespace {

bool has_parts(std::string_view name, std::string_view parts) {
  return ("." + std::string(name) + ".").find("." + std::string(parts) + ".") != std::string::npos;
}

bool is_unused(std::string_view name, const Family& family) {
  return std::ranges::any_of(family.unused, [&](std::string_view parts) { return has_parts(name, parts); });
}

std::unexpected<Error> refuse(const std::string& name, const std::string& file, const Family& family) {
  return fail(
      ErrorCode::unsupported,
      fmt::format("Tensor {} in {} has no place in the model that the config describes, {} with {} layers.",
                  in_quotes(name), file, family.spec.architecture, family.spec.layers.size()));
}

}  // namespace

Result<void> check_all_used(const load::Checkpoint& checkpoint, std::span<const load::UploadStep> steps,
                            const Family& family) {
  std::set<std::string_view> used;
  for (const load::UploadStep& step : steps) used.insert(step.tensor);
  for (const load::TensorRecord& tensor : checkpoint.tensors) {
    if (used.contains(tensor.name) || is_unused(tensor.name, family)) continue;
    return refuse(tensor.name, checkpoint.file_of(tensor), family);
  }
  for (const load::SkippedTensor& tensor : checkpoint.skipped) {
    if (!is_unused(tensor.name, family))
      return refuse(tensor.name, checkpoint.files[tensor.file].name, family);
  }
  return {};
}

}  // namespace ztvm::model
