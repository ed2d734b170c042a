#include "model/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "load/transform.hpp"

namespace ztvm::model {
namespace {

kernels::Matrix bind_matrix(const PlannedMatrix& planned, const Buffers& buffers) {
  kernels::Matrix matrix = {.rows = planned.rows, .dim = planned.dim, .parts = {}};
  for (const PlannedMatrix::Part& part : planned.parts) {
    matrix.parts.push_back({.kind = planned.kind,
                            .first_row = part.first_row,
                            .n_rows = part.n_rows,
                            .words = buffers.tensor(part.words, gpu::Dtype::u32),
                            .scales = buffers.tensor(part.scales, gpu::Dtype::u32)});
  }
  return matrix;
}

}  // namespace

// Collects requests while the plan takes shape.
class WeightPlan::Builder {
 public:
  Builder(const load::Checkpoint& file, std::uint64_t max_binding_bytes, Buffers& buffers)
      : file_(file), max_binding_bytes_(max_binding_bytes), buffers_(buffers) {}

  Result<PlannedMatrix> matrix(const MatrixSpec& spec);
  Result<Slot> vector(const std::string& tensor, std::uint32_t dim);
  Result<std::vector<load::UploadStep>> finish() const { return load::plan_uploads(requests_, file_.name); }

 private:
  Result<std::vector<const load::TensorRecord*>> find_sources(const MatrixSpec& spec) const;
  void plan_parts(const std::string& label, PlannedMatrix& matrix);
  void request(const load::TensorRecord& tensor, const MatrixSource& source, std::uint64_t first_row,
               const PlannedMatrix& matrix);

  const load::Checkpoint& file_;
  std::uint64_t max_binding_bytes_;
  Buffers& buffers_;
  std::vector<load::UploadRequest> requests_;
};

Result<std::vector<const load::TensorRecord*>> WeightPlan::Builder::find_sources(
    const MatrixSpec& spec) const {
  std::vector<const load::TensorRecord*> found;
  for (const MatrixSource& source : spec.sources) {
    const std::array<std::uint64_t, 2> shape = {source.rows, spec.dim};
    auto tensor = file_.require(source.tensor, shape);
    if (!tensor) return forward(tensor);
    if (!found.empty() && (*tensor)->dtype != found.front()->dtype) {
      return fail(
          ErrorCode::unsupported,
          fmt::format(
              "Tensor \"{}\" is {}, but \"{}\" is {}; this engine fuses them and needs one type, in {}.",
              source.tensor, load::info((*tensor)->dtype).name, found.front()->name,
              load::info(found.front()->dtype).name, file_.name));
    }
    found.push_back(*tensor);
  }
  return found;
}

void WeightPlan::Builder::plan_parts(const std::string& label, PlannedMatrix& matrix) {
  const QuantLayout layout = {.kind = matrix.kind, .dim = matrix.dim};
  const std::uint64_t most = std::max<std::uint64_t>(max_binding_bytes_ / layout.words_bytes_per_row(), 1);
  const auto rows_per_part = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, matrix.rows));
  for (std::uint32_t first = 0; first < matrix.rows; first += rows_per_part) {
    PlannedMatrix::Part part = {.first_row = first, .n_rows = std::min(rows_per_part, matrix.rows - first)};
    const std::string suffix = rows_per_part == matrix.rows ? "" : fmt::format(" rows {}", first);
    part.words =
        buffers_.plan(label + suffix, BufferRole::weights, part.n_rows * layout.words_bytes_per_row());
    part.scales = layout.has_scales() ? buffers_.plan(label + suffix + " scales", BufferRole::weights,
                                                      part.n_rows * layout.scales_bytes_per_row())
                                      : part.words;
    matrix.parts.push_back(part);
  }
}

void WeightPlan::Builder::request(const load::TensorRecord& tensor, const MatrixSource& source,
                                  std::uint64_t first_row, const PlannedMatrix& matrix) {
  load::UploadRequest request = {
      .tensor = &tensor, .unpermute_head_dim = source.unpermute_head_dim, .targets = {}};
  const std::uint64_t last_row = first_row + source.rows;
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
}

Result<PlannedMatrix> WeightPlan::Builder::matrix(const MatrixSpec& spec) {
  auto tensors = find_sources(spec);
  if (!tensors) return forward(tensors);
  auto layout = load::kernel_layout(*tensors->front(), file_.name);
  if (!layout) return forward(layout);
  PlannedMatrix matrix = {.kind = layout->kind, .rows = 0, .dim = spec.dim, .parts = {}};
  for (const MatrixSource& source : spec.sources) matrix.rows += source.rows;
  plan_parts(spec.label, matrix);
  std::uint64_t first_row = 0;
  for (std::size_t i = 0; i < spec.sources.size(); ++i) {
    request(*(*tensors)[i], spec.sources[i], first_row, matrix);
    first_row += spec.sources[i].rows;
  }
  return matrix;
}

Result<Slot> WeightPlan::Builder::vector(const std::string& name, std::uint32_t dim) {
  const std::array<std::uint64_t, 1> shape = {dim};
  auto tensor = file_.require(name, shape);
  if (!tensor) return forward(tensor);
  const Slot slot = buffers_.plan_elements(name, BufferRole::weights, gpu::Dtype::f32, dim);
  const auto number = static_cast<std::uint32_t>(slot);
  requests_.push_back(
      {.tensor = *tensor,
       .unpermute_head_dim = 0,
       .targets = {{.words_slot = number, .scales_slot = number, .first_row = 0, .n_rows = 1}}});
  return slot;
}

Result<WeightPlan> WeightPlan::make(const WeightNames& names, const ModelSpec& spec,
                                    const load::Checkpoint& file, std::uint64_t max_binding_bytes,
                                    Buffers& buffers) {
  Builder builder(file, max_binding_bytes, buffers);
  WeightPlan plan;
  Result<void> status;
  // The first failure stays; what follows it is skipped.
  const auto take_matrix = [&](const MatrixSpec& matrix, PlannedMatrix& out) {
    if (!status) return;
    auto planned = builder.matrix(matrix);
    if (planned) {
      out = std::move(*planned);
    } else {
      status = forward(planned);
    }
  };
  const auto take_vector = [&](const std::string& name, Slot& out) {
    if (!status) return;
    auto slot = builder.vector(name, spec.dim);
    if (slot) {
      out = *slot;
    } else {
      status = forward(slot);
    }
  };
  take_matrix(names.embedding, plan.embedding_);
  for (const LayerNames& layer : names.layers) {
    PlannedLayer& planned = plan.layers_.emplace_back();
    take_vector(layer.mixer_norm, planned.mixer_norm);
    take_matrix(layer.qkv, planned.qkv);
    take_matrix(layer.output, planned.output);
    take_vector(layer.ffn_norm, planned.ffn_norm);
    take_matrix(layer.gate_up, planned.gate_up);
    take_matrix(layer.down, planned.down);
  }
  take_vector(names.final_norm, plan.final_norm_);
  if (names.head.sources.empty()) {
    plan.head_ = plan.embedding_;
  } else {
    take_matrix(names.head, plan.head_);
  }
  if (!status) return forward(status);
  auto steps = builder.finish();
  if (!steps) return forward(steps);
  plan.steps_ = std::move(*steps);
  return plan;
}

Weights WeightPlan::bind(const Buffers& buffers) const {
  Weights weights;
  weights.embedding = bind_matrix(embedding_, buffers);
  for (const PlannedLayer& layer : layers_) {
    weights.layers.push_back({.mixer_norm = buffers.tensor(layer.mixer_norm, gpu::Dtype::f32),
                              .qkv = bind_matrix(layer.qkv, buffers),
                              .output = bind_matrix(layer.output, buffers),
                              .ffn_norm = buffers.tensor(layer.ffn_norm, gpu::Dtype::f32),
                              .gate_up = bind_matrix(layer.gate_up, buffers),
                              .down = bind_matrix(layer.down, buffers)});
  }
  weights.final_norm = buffers.tensor(final_norm_, gpu::Dtype::f32);
  weights.head = bind_matrix(head_, buffers);
  return weights;
}

}  // namespace ztvm::model
