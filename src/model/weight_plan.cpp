#include "model/weight_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/in_quotes.hpp"
#include "load/transform.hpp"

namespace ztvm::model {
namespace {

// Calls `use(segment)` for each piece of a segment within the rows [from, to) of the matrix.
template <typename Segment, typename Use>
void for_rows(const std::vector<Segment>& segments, std::uint32_t from, std::uint32_t to, Use use) {
  std::uint32_t first = 0;
  for (const Segment& segment : segments) {
    const std::uint32_t low = std::max(from, first);
    const std::uint32_t high = std::min(to, first + segment.n_rows);
    if (low < high) {
      Segment cut = segment;
      cut.tensor_row += low - first;
      cut.n_rows = high - low;
      use(cut);
    }
    first += segment.n_rows;
  }
}

}  // namespace

kernels::Matrix WeightPlan::matrix(MatrixHandle handle, const Buffers& buffers) const {
  const PlannedMatrix& planned = this->planned(handle);
  kernels::Matrix matrix = {.rows = planned.rows, .dim = planned.dim, .parts = {}};
  for (const PlannedMatrix::Part& part : planned.parts) {
    matrix.parts.push_back({.kind = part.kind,
                            .first_row = part.first_row,
                            .n_rows = part.n_rows,
                            .words = buffers.tensor(part.words, gpu::Dtype::u32),
                            .scales = buffers.tensor(part.scales, gpu::Dtype::u32)});
  }
  return matrix;
}

gpu::Tensor WeightPlan::vector(VectorHandle handle, const Buffers& buffers) const {
  return buffers.tensor(vectors_[static_cast<std::size_t>(handle)], gpu::Dtype::f32);
}

WeightPlan::Builder::Builder(const load::Checkpoint& checkpoint, std::uint64_t max_binding_bytes,
                             Buffers& buffers)
    : checkpoint_(checkpoint), max_binding_bytes_(max_binding_bytes), buffers_(buffers) {
  for (const load::TensorRecord& tensor : checkpoint.tensors) by_name_.emplace(tensor.name, &tensor);
}

MatrixHandle WeightPlan::Builder::matrix(const MatrixSpec& spec) {
  const auto handle = static_cast<MatrixHandle>(plan_.matrices_.size());
  if (!status_) return handle;
  auto planned = plan(spec);
  if (planned) {
    plan_.matrices_.push_back(std::move(*planned));
  } else {
    status_ = forward(planned);
  }
  return handle;
}

VectorHandle WeightPlan::Builder::vector(const VectorSpec& spec) {
  const auto handle = static_cast<VectorHandle>(plan_.vectors_.size());
  if (!status_) return handle;
  auto slot = plan(spec);
  if (slot) {
    plan_.vectors_.push_back(*slot);
  } else {
    status_ = forward(slot);
  }
  return handle;
}

Result<WeightPlan> WeightPlan::Builder::finish() {
  if (!status_) return forward(status_);
  auto steps = load::plan_uploads(requests_, checkpoint_);
  if (!steps) return forward(steps);
  plan_.steps_ = std::move(*steps);
  return std::move(plan_);
}

const load::TensorRecord* WeightPlan::Builder::find(const std::string& name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

Result<PlannedMatrix> WeightPlan::Builder::plan(const MatrixSpec& spec) {
  check(!spec.sources.empty(), "a matrix has sources");
  check(!spec.gate_and_up || spec.unit_rows == 0, "gate and up are a unit by themselves");
  PlannedMatrix matrix = {.rows = 0, .dim = spec.dim, .parts = {}};
  std::vector<Segment> segments;
  std::uint32_t unit_rows = std::max(spec.unit_rows, 1u);
  for (const MatrixSource& source : spec.sources) {
    auto segment = resolve(source, spec.dim);
    if (!segment) return forward(segment);
    matrix.rows += segment->n_rows;
    if (segment->unpermute_head_dim != 0) unit_rows = std::lcm(unit_rows, segment->unpermute_head_dim);
    segments.push_back(*segment);
  }
  if (spec.gate_and_up) {
    auto paired_rows = pair_halves(spec, segments);
    if (!paired_rows) return forward(paired_rows);
    unit_rows = *paired_rows;
  }
  if (auto parts = plan_parts(spec, unit_rows, segments, matrix); !parts) return forward(parts);
  request_rows(segments, matrix);
  return matrix;
}

Result<WeightPlan::Builder::Segment> WeightPlan::Builder::resolve(const MatrixSource& source,
                                                                  std::uint32_t dim) {
  std::vector<std::uint64_t> shape = source.shape;
  if (shape.empty()) shape = {source.first_row + source.rows, dim};
  const load::TensorRecord* tensor = find(source.tensor);
  if (tensor == nullptr || tensor->shape != shape) {
    auto wrong = checkpoint_.require(source.tensor, shape);
    check(!wrong, "a tensor that is missing or misshapen is refused");
    return forward(wrong);
  }
  check(tensor->dim() == dim && source.first_row + source.rows <= tensor->n_rows(),
        "a source lies within its tensor, whose rows are as long as the matrix's");
  auto layout = load::kernel_layout(*tensor, checkpoint_.file_of(*tensor));
  if (!layout) return forward(layout);
  return Segment{.tensor = tensor,
                 .kind = layout->kind,
                 .tensor_row = source.first_row,
                 .unpermute_head_dim = source.unpermute_head_dim,
                 .n_rows = source.rows};
}

Result<std::uint32_t> WeightPlan::Builder::rows_per_part(const MatrixSpec& spec, QuantLayout layout,
                                                         std::uint32_t unit_rows) const {
  const std::uint64_t unit_bytes = layout.words_bytes_per_row() * unit_rows;
  const std::uint64_t n_units = max_binding_bytes_ / unit_bytes;
  if (n_units == 0) {
    return fail(
        ErrorCode::out_of_memory,
        fmt::format(
            "Matrix \"{}\" needs {} bytes in one buffer for {} rows that stay together, but the adapter "
            "binds at most {}.",
            spec.label, unit_bytes, unit_rows, max_binding_bytes_));
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(n_units, UINT32_MAX / unit_rows) * unit_rows);
}

// Puts the segments in the order of gate and up rows that share a part. The result is the rows of a full part.
Result<std::uint32_t> WeightPlan::Builder::pair_halves(const MatrixSpec& spec,
                                                       std::vector<Segment>& segments) const {
  std::uint32_t rows = 0;
  for (const Segment& segment : segments) {
    rows += segment.n_rows;
    check(segment.unpermute_head_dim == 0, "gate and up have no heads");
    const Segment& first = segments.front();
    if (segment.kind == first.kind) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("Tensor {} is {}, but {} is {}; gate and up need one type, in {}.",
                            in_quotes(segment.tensor->name), load::type_text(*segment.tensor),
                            in_quotes(first.tensor->name), load::type_text(*first.tensor),
                            checkpoint_.file_of(*segment.tensor)));
  }
  check(rows % 2 == 0, "gate and up have as many rows");
  auto most = rows_per_part(spec, {.kind = segments.front().kind, .dim = spec.dim}, 2);
  if (!most) return forward(most);
  const std::uint32_t half = rows / 2;
  const std::uint32_t pairs = std::min(half, *most / 2);
  std::vector<Segment> paired;
  for (std::uint32_t first = 0; first < half; first += pairs) {
    const std::uint32_t last = std::min(half, first + pairs);
    for (const std::uint32_t start : {0u, half}) {
      for_rows(segments, start + first, start + last, [&](const Segment& cut) { paired.push_back(cut); });
    }
  }
  segments = std::move(paired);
  return pairs * 2;
}

// Cuts the matrix where the kind changes and where the binding limit asks for it.
Result<void> WeightPlan::Builder::plan_parts(const MatrixSpec& spec, std::uint32_t unit_rows,
                                             std::span<const Segment> segments, PlannedMatrix& matrix) {
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < segments.size();) {
    const Segment& run = segments[i];
    if (spec.unit_rows > 1 && first % spec.unit_rows != 0) {
      return fail(
          ErrorCode::unsupported,
          fmt::format(
              "Tensor \"{}\" is {}, but \"{}\" is {}; matrix \"{}\" needs one type within {} rows, in {}.",
              run.tensor->name, load::type_text(*run.tensor), segments[i - 1].tensor->name,
              load::type_text(*segments[i - 1].tensor), spec.label, spec.unit_rows,
              checkpoint_.file_of(*run.tensor)));
    }
    std::uint32_t end = first;
    for (; i < segments.size() && segments[i].kind == run.kind; ++i) end += segments[i].n_rows;
    auto most = rows_per_part(spec, {.kind = run.kind, .dim = spec.dim}, unit_rows);
    if (!most) return forward(most);
    while (first < end) {
      const std::uint32_t n_rows = std::min(*most, end - first);
      matrix.parts.push_back({.kind = run.kind, .first_row = first, .n_rows = n_rows});
      first += n_rows;
    }
  }
  for (PlannedMatrix::Part& part : matrix.parts) {
    const QuantLayout layout = {.kind = part.kind, .dim = spec.dim};
    const std::string label =
        spec.label + (matrix.parts.size() == 1 ? std::string() : fmt::format(" rows {}", part.first_row));
    part.words = buffers_.plan(label, BufferRole::weights, part.n_rows * layout.words_bytes_per_row());
    part.scales = layout.has_scales() ? buffers_.plan(label + " scales", BufferRole::weights,
                                                      part.n_rows * layout.scales_bytes_per_row())
                                      : part.words;
  }
  return {};
}

void WeightPlan::Builder::request_rows(std::span<const Segment> segments, const PlannedMatrix& matrix) {
  std::uint64_t first_row = 0;
  for (const Segment& segment : segments) {
    load::UploadRequest request = {.tensor = segment.tensor,
                                   .first_row = segment.tensor_row,
                                   .unpermute_head_dim = segment.unpermute_head_dim,
                                   .targets = {}};
    const std::uint64_t last_row = first_row + segment.n_rows;
    for (const PlannedMatrix::Part& part : matrix.parts) {
      const std::uint64_t from = std::max<std::uint64_t>(first_row, part.first_row);
      const std::uint64_t to = std::min<std::uint64_t>(last_row, std::uint64_t{part.first_row} + part.n_rows);
      if (from >= to) continue;
      request.targets.push_back({.words_slot = static_cast<std::uint32_t>(part.words),
                                 .scales_slot = static_cast<std::uint32_t>(part.scales),
                                 .first_row = from - part.first_row,
                                 .n_rows = to - from});
    }
    requests_.push_back(std::move(request));
    first_row = last_row;
  }
}

Result<const load::TensorRecord*> WeightPlan::Builder::find_vector(const std::string& name,
                                                                   const std::vector<std::uint64_t>& shape) {
  const auto without_ones = [](std::vector<std::uint64_t> dims) {
    std::erase(dims, 1u);
    return dims;
  };
  const load::TensorRecord* tensor = find(name);
  if (tensor == nullptr || without_ones(tensor->shape) != without_ones(shape)) {
    auto wrong = checkpoint_.require(name, shape);
    check(!wrong, "a tensor that is missing or misshapen is refused");
    return forward(wrong);
  }
  if (tensor->parts.size() != 1 || load::info(tensor->dtype).block_elements != 1) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("Tensor {} is {}, expected F32, F16 or BF16 of a vector, in {}.", in_quotes(tensor->name),
                    load::info(tensor->dtype).name, checkpoint_.file_of(*tensor)));
  }
  return tensor;
}

Result<Slot> WeightPlan::Builder::plan(const VectorSpec& spec) {
  std::uint64_t n_elements = 1;
  for (const std::uint64_t n : spec.shape) n_elements *= n;
  const Slot slot =
      buffers_.plan_elements(fmt::format("{}", fmt::join(spec.tensors, ", ")), BufferRole::weights,
                             gpu::Dtype::f32, spec.tensors.size() * n_elements);
  const auto number = static_cast<std::uint32_t>(slot);
  for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
    auto tensor = find_vector(spec.tensors[i], spec.shape);
    if (!tensor) return forward(tensor);
    requests_.push_back(
        {.tensor = *tensor,
         .flatten = true,
         .may_be_zero = spec.may_be_zero,
         .targets = {{.words_slot = number, .scales_slot = number, .first_row = i, .n_rows = 1}}});
  }
  return slot;
}

}  // namespace ztvm::model
