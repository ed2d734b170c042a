#pragma once
// Which tensors of a checkpoint become which weight buffers. A block asks a Builder for its matrices and vectors and
// keeps the handles; once the buffers are allocated, the plan turns handles into tensors.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/matrix.hpp"
#include "load/checkpoint.hpp"
#include "load/upload_plan.hpp"
#include "model/buffers.hpp"

namespace ztvm::model {

// Rows of one tensor of the checkpoint that become rows of a matrix.
struct MatrixSource {
  std::string tensor;
  std::uint32_t rows = 0;
  std::uint32_t unpermute_head_dim = 0;  // not 0: q or k of a llama-family GGUF
  std::uint64_t first_row = 0;  // of the tensor's rows; expert e of [n_experts, n, dim] starts at e * n
  // Of the whole tensor, which must have it exactly; empty: [first_row + rows, dim], so none is left over.
  std::vector<std::uint64_t> shape = {};
};

// A matrix made of tensors laid behind each other by rows.
struct MatrixSpec {
  std::string label;
  std::uint32_t dim = 0;
  std::vector<MatrixSource> sources;
  // Rows that must stay in one part, and be of one kind: an expert's. 0: any split will do.
  std::uint32_t unit_rows = 0;
  // The first half of the rows (gate) and the second (up) are multiplied with each other: every part has the same rows
  // of both, those of gate first. Not together with unit_rows.
  bool gate_and_up = false;
};

// Vectors of f32 that tensors of floats become, one behind the other in one buffer, each of `shape`. Dimensions of 1 do
// not count: {c, k} is also [c, 1, k] and [c, k, 1].
struct VectorSpec {
  std::vector<std::string> tensors;
  std::vector<std::uint64_t> shape;
  bool may_be_zero = false;  // all of them: not so the weights of norms
};

enum class MatrixHandle : std::uint32_t {};
enum class VectorHandle : std::uint32_t {};

// A matrix whose buffers are planned. Its rows lie in the parts one after another; with gate_and_up, a part has
// n_rows / 2 of gate, then the same of up, from row first_row / 2 on.
struct PlannedMatrix {
  struct Part {
    QuantKind kind = QuantKind::f32;
    std::uint32_t first_row = 0;
    std::uint32_t n_rows = 0;
    Slot words{};
    Slot scales{};
  };
  std::uint32_t rows = 0;
  std::uint32_t dim = 0;
  std::vector<Part> parts;
};

class WeightPlan {
 public:
  class Builder;

  // In the order in which they are to be supplied.
  std::span<const load::UploadStep> steps() const { return steps_; }
  const PlannedMatrix& planned(MatrixHandle handle) const {
    return matrices_[static_cast<std::size_t>(handle)];
  }

  // Views of allocated buffers.
  kernels::Matrix matrix(MatrixHandle handle, const Buffers& buffers) const;
  gpu::Tensor vector(VectorHandle handle, const Buffers& buffers) const;

 private:
  std::vector<PlannedMatrix> matrices_;
  std::vector<Slot> vectors_;
  std::vector<load::UploadStep> steps_;
};

// Collects what blocks ask for. The first error is kept and told by finish(); what follows it does nothing, so that
// blocks need not look.
class WeightPlan::Builder {
 public:
  // Plans into `buffers`; both outlive the builder. No buffer exceeds `max_binding_bytes`: larger matrices are split by
  // rows.
  Builder(const load::Checkpoint& checkpoint, std::uint64_t max_binding_bytes, Buffers& buffers);

  // Errors: a tensor is missing or misshapen, has no kernels, or exceeds the limit where no split is allowed; tensors
  // of gate and up, or of one unit, differ in type. Elsewhere fused tensors may: each run of one kind is a part.
  MatrixHandle matrix(const MatrixSpec& spec);
  VectorHandle vector(const VectorSpec& spec);

  const load::Checkpoint& checkpoint() const { return checkpoint_; }
  // The first error so far.
  const Result<void>& status() const { return status_; }
  // Errors: the first of all.
  Result<WeightPlan> finish();

 private:
  // Rows of one tensor that lie behind each other in the matrix.
  struct Segment {
    const load::TensorRecord* tensor = nullptr;
    QuantKind kind = QuantKind::f32;
    std::uint64_t tensor_row = 0;
    std::uint32_t unpermute_head_dim = 0;
    std::uint32_t n_rows = 0;
  };

  const load::TensorRecord* find(const std::string& name);
  Result<PlannedMatrix> plan(const MatrixSpec& spec);
  Result<Slot> plan(const VectorSpec& spec);
  Result<const load::TensorRecord*> find_vector(const std::string& name,
                                                const std::vector<std::uint64_t>& shape);
  Result<Segment> resolve(const MatrixSource& source, std::uint32_t dim);
  Result<std::uint32_t> pair_halves(const MatrixSpec& spec, std::vector<Segment>& segments) const;
  Result<void> plan_parts(const MatrixSpec& spec, std::uint32_t unit_rows, std::span<const Segment> segments,
                          PlannedMatrix& matrix);
  Result<std::uint32_t> rows_per_part(const MatrixSpec& spec, QuantLayout layout,
                                      std::uint32_t unit_rows) const;
  void request_rows(std::span<const Segment> segments, const PlannedMatrix& matrix);

  const load::Checkpoint& checkpoint_;
  std::uint64_t max_binding_bytes_;
  Buffers& buffers_;
  std::map<std::string_view, const load::TensorRecord*> by_name_;
  std::vector<load::UploadRequest> requests_;
  WeightPlan plan_;
  Result<void> status_;
};

}  // namespace ztvm::model
