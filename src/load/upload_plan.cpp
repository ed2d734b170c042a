#include "load/upload_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/in_quotes.hpp"
#include "load/small_scales.hpp"
#include "load/transform.hpp"

namespace ztvm::load {
namespace {

constexpr float k_max_half = 65504.0f;
constexpr std::uint64_t k_max_unit_bytes = 256ull << 20;  // one head that must be in memory at once

std::uint64_t rows_of(const UploadRequest& request) { return request.flatten ? 1 : request.tensor->n_rows(); }

std::uint64_t bytes_per_row(const UploadRequest& request, const TensorPart& part) {
  return part.range.n_bytes / rows_of(request);
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
  const std::uint64_t row_bytes = bytes_per_row(request, tensor.parts.front());
  if (row_bytes > k_max_unit_bytes / head_dim) {
    return fail(
        ErrorCode::unsupported,
        fmt::format(
            "Tensor {} has heads of {} rows with {} bytes each, supported are {} bytes a head, in {}.",
            in_quotes(tensor.name), head_dim, row_bytes, k_max_unit_bytes, file));
  }
  return {};
}

void check_targets(const UploadRequest& request) {
  const std::uint64_t unit = rows_per_unit(request);
  std::uint64_t n_rows = 0;
  for (const RowTarget& target : request.targets) {
    check(target.n_rows % unit == 0, "a target takes whole heads");
    n_rows += target.n_rows;
  }
  check(request.first_row % unit == 0, "a request starts with a whole head");
  check(request.first_row <= rows_of(request) && n_rows <= rows_of(request) - request.first_row,
        "the targets take rows of the tensor");
}

// The layout of the request's rows.
Result<QuantLayout> layout_of(const UploadRequest& request, std::string_view file) {
  if (!request.flatten) return kernel_layout(*request.tensor, file);
  TensorRecord flat = *request.tensor;
  flat.shape = {flat.n_rows() * flat.dim()};
  return kernel_layout(flat, file);
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

// The bytes of `n_rows` rows from `row` on in each part of the tensor.
std::vector<SourceRange> sources_of(const UploadRequest& request, std::uint64_t row, std::uint64_t n_rows) {
  std::vector<SourceRange> sources;
  for (const TensorPart& part : request.tensor->parts) {
    const std::uint64_t row_bytes = bytes_per_row(request, part);
    sources.push_back(
        {.file = part.file,
         .range = {.offset = part.range.offset + row * row_bytes, .n_bytes = n_rows * row_bytes},
         .dtype = part.dtype});
  }
  return sources;
}

void cut(const UploadRequest& request, QuantLayout layout, std::uint64_t piece_bytes,
         std::vector<UploadStep>& steps) {
  const TensorRecord& tensor = *request.tensor;
  const std::uint64_t unit_rows = rows_per_unit(request);
  const std::uint64_t unit_bytes = bytes_per_row(request, tensor.parts.front()) * unit_rows;
  const std::uint64_t piece_rows = std::max<std::uint64_t>(piece_bytes / unit_bytes, 1) * unit_rows;
  std::uint64_t row = request.first_row;
  for (const RowTarget& target : request.targets) {
    for (std::uint64_t done = 0; done < target.n_rows;) {
      const std::uint64_t n_rows = std::min(piece_rows, target.n_rows - done);
      const std::uint64_t target_row = target.first_row + done;
      steps.push_back(
          {.tensor = tensor.name,
           .sources = sources_of(request, row, n_rows),
           .dtype = tensor.dtype,
           .bits = tensor.bits,
           .group = tensor.group,
           .flatten = request.flatten,
           .may_be_zero = request.may_be_zero,
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

// One row of each source.
RowSource row_source(const UploadStep& step, std::span<const Bytes> sources, std::uint32_t row) {
  const auto row_of = [&](std::size_t part) {
    if (part >= sources.size()) return Bytes();
    const std::size_t row_bytes = sources[part].size() / step.n_rows;
    return sources[part].subspan(row * row_bytes, row_bytes);
  };
  const auto dtype_of = [&](std::size_t part) {
    return part < sources.size() ? step.sources[part].dtype : Dtype::f16;
  };
  return {.dtype = step.dtype,
          .bits = step.bits,
          .group = step.group,
          .scale_dtype = dtype_of(1),
          .bias_dtype = dtype_of(2),
          .words = row_of(0),
          .scales = row_of(1),
          .biases = row_of(2)};
}

// Whether each number is one that an f16 can hold.
bool are_halves(Bytes numbers, Dtype dtype) {
  const std::size_t number_bytes = info(dtype).block_bytes;
  for (std::size_t at = 0; at + number_bytes <= numbers.size(); at += number_bytes) {
    const float value = dtype == Dtype::f32    ? load_as<float>(numbers, at)
                        : dtype == Dtype::bf16 ? bfloat_to_float(load_as<std::uint16_t>(numbers, at))
                                               : half_to_float(load_as<std::uint16_t>(numbers, at));
    if (!(std::abs(value) <= k_max_half)) return false;
  }
  return true;
}

// The part of a row that convert_row() refuses: its values, its scales, or what is added to them.
std::size_t refused_part(const UploadStep& step, const RowSource& row) {
  if (step.sources.size() < 3 || !are_halves(row.scales, row.scale_dtype)) {
    return std::min<std::size_t>(1, step.sources.size() - 1);
  }
  return are_halves(row.biases, row.bias_dtype) ? 1 : 2;
}

// The sentence on a row that convert_row() refuses.
std::string not_finite(const UploadStep& step, std::uint64_t row, std::size_t part,
                       std::span<const CheckpointFile> files) {
  const std::string in_file =
      fmt::format("Tensor {} in {}", in_quotes(part_name(step, part)), files[step.sources[part].file].name);
  if (step.flatten) return fmt::format("{} has a value that is infinite or not a number.", in_file);
  if (is_plain(step.dtype)) {
    return fmt::format("{} has a value in row {} that is infinite or not a number.", in_file, row);
  }
  return fmt::format("{} has a scale in row {} that is infinite, not a number, or too large.", in_file, row);
}

}  // namespace

std::string part_name(const UploadStep& step, std::size_t part) {
  constexpr std::string_view k_weight = "weight";
  if (step.sources.size() < 3 || part == 0 || !step.tensor.ends_with(k_weight)) return step.tensor;
  return step.tensor.substr(0, step.tensor.size() - k_weight.size()) + (part == 1 ? "scales" : "biases");
}

std::uint64_t UploadStep::n_bytes() const {
  std::uint64_t n_bytes = 0;
  for (const SourceRange& source : sources) n_bytes += source.range.n_bytes;
  return n_bytes;
}

Result<std::vector<UploadStep>> plan_uploads(std::span<const UploadRequest> requests,
                                             const Checkpoint& checkpoint, std::uint64_t piece_bytes) {
  std::vector<UploadStep> steps;
  SlotLayouts slots;
  for (const UploadRequest& request : requests) {
    const std::string& file = checkpoint.file_of(*request.tensor);
    auto layout = layout_of(request, file);
    if (!layout) return forward(layout);
    if (auto heads = check_heads(request, file); !heads) return forward(heads);
    check_targets(request);
    for (const RowTarget& target : request.targets) {
      if (auto same = slots.add(target.words_slot, *request.tensor, *layout, file); !same)
        return forward(same);
    }
    cut(request, *layout, piece_bytes, steps);
  }
  std::ranges::sort(steps, {}, [](const UploadStep& step) {
    const SourceRange& words = step.sources.front();
    return std::tuple(words.file, words.range.offset, step.words.slot);
  });
  return steps;
}

Result<void> apply(const UploadStep& step, std::span<const Bytes> sources,
                   std::span<const CheckpointFile> files, QuantisedRows& out) {
  check(sources.size() == step.sources.size(), "each source of the step has its bytes");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    check(sources[i].size() == step.sources[i].range.n_bytes, "the bytes are those of the step");
  }
  if (auto small = small_scale_problem(step, sources, files)) {
    return fail(ErrorCode::unsupported, std::move(*small));
  }
  const auto words_bytes = narrow<std::size_t>(step.layout.words_bytes_per_row());
  const auto scales_bytes = narrow<std::size_t>(step.layout.scales_bytes_per_row());
  out.words.resize(words_bytes * step.n_rows);
  out.scales.resize(scales_bytes * step.n_rows);
  for (std::uint32_t row = 0; row < step.n_rows; ++row) {
    std::uint32_t target = row;
    if (const std::uint32_t head_dim = step.unpermute_head_dim; head_dim != 0) {
      target = row / head_dim * head_dim + unpermuted_row(row % head_dim, head_dim);
    }
    const RowSource source = row_source(step, sources, row);
    const bool converted = convert_row(source, step.layout.kind,
                                       MutableBytes(out.words).subspan(target * words_bytes, words_bytes),
                                       MutableBytes(out.scales).subspan(target * scales_bytes, scales_bytes));
    if (converted) continue;
    return fail(ErrorCode::corrupt_file,
                not_finite(step, step.first_row + row, refused_part(step, source), files));
  }
  return {};
}

}  // namespace ztvm::load
