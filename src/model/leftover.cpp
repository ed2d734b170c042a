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

bool is_copy_of_embedding(const load::TensorRecord& tensor, const Family& family,
                          const load::Checkpoint& checkpoint) {
  if (!family.spec.tied_head || tensor.name != family.names.tied_head) return false;
  const load::TensorRecord* embedding = checkpoint.find(family.names.embedding.sources.front().tensor);
  return embedding != nullptr && load::is_plain(tensor.dtype) && tensor.dtype == embedding->dtype &&
         tensor.shape == embedding->shape;
}

std::unexpected<Error> refuse(const std::string& name, const std::string& file, const Family& family) {
  const std::string tensor = fmt::format("Tensor {} in {}", in_quotes(name), file);
  if (family.spec.tied_head && name == family.names.tied_head) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("{} is a head of its own, but the config says that the embedding is the head.", tensor));
  }
  return fail(ErrorCode::unsupported,
              fmt::format("{} has no place in the model that the config describes, {} with {} layers.",
                          tensor, family.spec.architecture, family.spec.layers.size()));
}

}  // namespace

Result<void> check_all_used(const load::Checkpoint& checkpoint, std::span<const load::UploadStep> steps,
                            const Family& family) {
  std::set<std::string_view> used;
  for (const load::UploadStep& step : steps) used.insert(step.tensor);
  for (const load::TensorRecord& tensor : checkpoint.tensors) {
    if (used.contains(tensor.name) || is_unused(tensor.name, family)) continue;
    if (is_copy_of_embedding(tensor, family, checkpoint)) continue;
    return refuse(tensor.name, checkpoint.file_of(tensor), family);
  }
  for (const load::SkippedTensor& tensor : checkpoint.skipped) {
    if (!is_unused(tensor.name, family))
      return refuse(tensor.name, checkpoint.files[tensor.file].name, family);
  }
  return {};
}

}  // namespace ztvm::model
