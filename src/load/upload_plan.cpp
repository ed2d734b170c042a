#include "load/upload_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "load/in_quotes.hpp"
#include "load/transform.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_max_unit_bytes = 256ull << 20;  // one head that must be in memory at once

std::uint64_t file_bytes_per_row(const TensorRecord& tensor) {
  return tensor.parts.front().range.n_bytes / tensor.n_rows();
}

// Rows that must stay together in a step: a head to be un-permuted, else one.
std::uint32_t rows_per_unit(const UploadRequest& request) { return std::max(request.unpermute_head_dim, 1u); }

Result<void> check_heads(const UploadRequest& request, std::string_view file) {
  const TensorRecord& tensor = *request.tensor;
  const std::uint32_t head_dim = request.unpermute_head_dim;
  if (head_dim == 0) return {};
  if (tensor.n_rows() % head_dim != 0 || head_dim % 2 != 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("Tensor {} has {} rows, expected whole heads of {} rows, an even number, in {}.",
                            in_quotes(tensor.name), tensor.n_rows(), head_dim, file));
  }
  if (file_bytes_per_row(tensor) > k_max_unit_bytes / head_dim) {
    return fail(
        ErrorCode::unsupported,
        fmt::format(
            "Tensor {} has heads of {} rows with {} bytes each, supported are {} bytes a head, in {}.",
            in_quotes(tensor.name), head_dim, file_bytes_per_row(tensor), k_max_unit_bytes, file));
  }
  return {};
}

void check_targets(const UploadRequest& request) {
  std::uint64_t n_rows = 0;
  for (const RowTarget& target : request.targets) {
    check(target.n_rows % rows_per_unit(request) == 0, "a target takes whole heads");
    n_rows += target.n_rows;
  }
  check(n_rows == request.tensor->n_rows(), "the targets take every row of the tensor");
}

// Which tensor decided how the rows of a slot lie.
class SlotLayouts {
 public:
  Result<void> add(std::uint32_t slot, const TensorRecord& tensor, QuantLayout layout,
                   std::string_view file) {
    const auto [first, is_new] = slots_.try_emplace(slot, &tensor, layout);
    if (is_new || first->second.second == layout) return {};
    const auto& [other, expected] = first->second;
    return fail(
        ErrorCode::unsupported,
        fmt::format("Tensor {} has rows of {} x {}, expected {} x {} as in tensor {}, with which it shares a "
                    "buffer, in {}.",
                    in_quotes(tensor.name), layout.dim, to_string(layout.kind), expected.dim,
                    to_string(expected.kind), in_quotes(other->name), file));
  }

 private:
  std::map<std::uint32_t, std::pair<const TensorRecord*, QuantLayout>> slots_;
};

void cut(const UploadRequest& request, QuantLayout layout, std::uint64_t piece_bytes,
         std::vector<UploadStep>& steps) {
  const TensorRecord& tensor = *request.tensor;
  const std::uint64_t row_bytes = file_bytes_per_row(tensor);
  const std::uint64_t unit_rows = rows_per_unit(request);
  const std::uint64_t piece_rows =
      std::max<std::uint64_t>(piece_bytes / (row_bytes * unit_rows), 1) * unit_rows;
  std::uint64_t row = 0;
  for (const RowTarget& target : request.targets) {
    for (std::uint64_t done = 0; done < target.n_rows;) {
      const std::uint64_t n_rows = std::min(piece_rows, target.n_rows - done);
      const std::uint64_t target_row = target.first_row + done;
      steps.push_back(
          {.tensor = tensor.name,
           .source = {.offset = tensor.parts.front().range.offset + row * row_bytes,
                      .n_bytes = n_rows * row_bytes},
           .dtype = tensor.dtype,
           .layout = layout,
           .first_row = row,
           .n_rows = narrow<std::uint32_t>(n_rows),
           .unpermute_head_dim = request.unpermute_head_dim,
           .words = {.slot = target.words_slot, .offset = target_row * layout.words_bytes_per_row()},
           .scales = {.slot = target.scales_slot, .offset = target_row * layout.scales_bytes_per_row()}});
      done += n_rows;
      row += n_rows;
    }
  }
}

}  // namespace

Result<std::vector<UploadStep>> plan_uploads(std::span<const UploadRequest> requests, std::string_view file,
                                             std::uint64_t piece_bytes) {
  std::vector<UploadStep> steps;
  SlotLayouts slots;
  for (const UploadRequest& request : requests) {
    auto layout = kernel_layout(*request.tensor, file);
    if (!layout) return forward(layout);
    if (auto heads = check_heads(request, file); !heads) return forward(heads);
    check_targets(request);
    for (const RowTarget& target : request.targets) {
      if (auto same = slots.add(target.words_slot, *request.tensor, *layout, file); !same)
        return forward(same);
    }
    cut(request, *layout, piece_bytes, steps);
  }
  std::ranges::sort(steps, {}, [](const UploadStep& step) { return step.source.offset; });
  return steps;
}

Result<void> apply(const UploadStep& step, Bytes source, std::string_view file, QuantisedRows& out) {
  check(source.size() == step.source.n_bytes, "the bytes are those of the step");
  const std::size_t source_bytes = source.size() / step.n_rows;
  const auto words_bytes = narrow<std::size_t>(step.layout.words_bytes_per_row());
  const auto scales_bytes = narrow<std::size_t>(step.layout.scales_bytes_per_row());
  out.words.resize(words_bytes * step.n_rows);
  out.scales.resize(scales_bytes * step.n_rows);
  for (std::uint32_t row = 0; row < step.n_rows; ++row) {
    std::uint32_t target = row;
    if (const std::uint32_t head_dim = step.unpermute_head_dim; head_dim != 0) {
      target = row / head_dim * head_dim + unpermuted_row(row % head_dim, head_dim);
    }
    const bool converted =
        convert_row(step.dtype, step.layout.kind, source.subspan(row * source_bytes, source_bytes),
                    MutableBytes(out.words).subspan(target * words_bytes, words_bytes),
                    MutableBytes(out.scales).subspan(target * scales_bytes, scales_bytes));
    if (converted) continue;
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("Tensor {} in {} has a scale in row {} that is infinite, not a number, or too large.",
                    in_quotes(step.tensor), file, step.first_row + row));
  }
  return {};
}

}  // namespace ztvm::load
