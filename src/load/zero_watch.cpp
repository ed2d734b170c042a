#include "load/zero_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

bool is_all_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

std::string_view name_of_part(std::size_t part, std::size_t n_parts) {
  constexpr std::string_view k_names[] = {"words", "scales", "biases"};
  return n_parts == 1 ? "values" : k_names[part];
}

// Most of a vector's values are zero, or those of a whole page of the disk are.
bool has_vector_hole(const UploadStep& step, Bytes values) {
  const std::size_t value_bytes = info(step.dtype).block_bytes;
  const std::size_t n_values = values.size() / value_bytes;
  std::size_t n_zero = 0;
  std::size_t n_in_a_row = 0;
  for (std::size_t i = 0; i < n_values; ++i) {
    const bool is_zero = is_all_zero(values.subspan(i * value_bytes, value_bytes));
    n_zero += is_zero ? 1 : 0;
    n_in_a_row = is_zero ? n_in_a_row + 1 : 0;
    if (n_in_a_row * value_bytes >= ZeroHoles::k_hole_bytes) return true;
  }
  return n_values >= ZeroWatch::k_vector_values && 2 * n_zero > n_values;
}

}  // namespace

ZeroWatch::ZeroWatch(std::span<const UploadStep> steps) {
  std::map<std::string_view, std::uint32_t> tensors;
  for (const UploadStep& step : steps) {
    const auto next = static_cast<std::uint32_t>(tensors_.size());
    const auto [found, is_new] = tensors.emplace(step.tensor, next);
    if (is_new) tensors_.emplace_back();
    ++tensors_[found->second].n_steps;
    tensor_of_step_.push_back(found->second);
  }
}

Result<void> ZeroWatch::see(std::size_t index, const UploadStep& step, std::span<const Bytes> sources,
                            std::span<const CheckpointFile> files) {
  TensorState& state = tensors_[tensor_of_step_[index]];
  const bool is_last = --state.n_steps == 0;
  for (std::size_t part = 0; part < sources.size() && !step.may_be_zero; ++part) {
    if (state.has_values[part]) continue;
    state.has_values[part] = !is_all_zero(sources[part]);
    state.n_zero_bytes[part] += sources[part].size();
    if (!is_last || state.has_values[part]) continue;
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensor {} has only zeros in the {} bytes of its {} in {}; it was not downloaded "
                            "completely.",
                            in_quotes(step.tensor), state.n_zero_bytes[part],
                            name_of_part(part, sources.size()), files[step.sources[part].file].name));
  }
  if (step.flatten) {
    if (step.may_be_zero || !is_plain(step.dtype) || !has_vector_hole(step, sources.front())) return {};
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensor {} in {} has more zeros than a vector of weights can have; it was not "
                            "downloaded completely.",
                            in_quotes(step.tensor), files[step.sources.front().file].name));
  }
  holes_.see(step, sources);
  if (is_last) holes_.end_tensor();
  const ZeroHoles::Hole& hole = holes_.hole();
  if (hole.n_bytes == 0) return {};
  return fail(
      ErrorCode::corrupt_file,
      fmt::format("Tensor {} has a hole of {} zero bytes at offset {} of {}; it was not downloaded "
                  "completely.",
                  in_quotes(step.tensor), hole.n_bytes, hole.offset, files[step.sources.front().file].name));
}

}  // namespace ztvm::load
