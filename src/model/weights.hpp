#pragma once
// The weights of a model: which tensors of a checkpoint become which buffers, and the buffers once allocated.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/matrix.hpp"
#include "load/checkpoint.hpp"
#include "load/upload_plan.hpp"
#include "model/buffers.hpp"
#include "model/spec.hpp"

namespace ztvm::model {

// One tensor of the checkpoint that becomes rows of a matrix.
struct MatrixSource {
  std::string tensor;
  std::uint32_t rows = 0;
  std::uint32_t unpermute_head_dim = 0;  // not 0: q or k of a llama-family GGUF
};

// A matrix made of tensors laid behind each other by rows.
struct MatrixSpec {
  std::string label;
  std::uint32_t dim = 0;
  std::vector<MatrixSource> sources;
};

// Names of a checkpoint, filled by the family: what the decoder needs, in its own terms.
struct LayerNames {
  std::string mixer_norm;
  MatrixSpec qkv;
  MatrixSpec output;
  std::string ffn_norm;
  MatrixSpec gate_up;
  MatrixSpec down;
};
struct WeightNames {
  MatrixSpec embedding;
  std::vector<LayerNames> layers;
  std::string final_norm;
  MatrixSpec head;  // no sources: tied to the embedding
};

// A matrix whose buffers are planned.
struct PlannedMatrix {
  struct Part {
    std::uint32_t first_row = 0;
    std::uint32_t n_rows = 0;
    Slot words{};
    Slot scales{};
  };
  QuantKind kind = QuantKind::f32;
  std::uint32_t rows = 0;
  std::uint32_t dim = 0;
  std::vector<Part> parts;
};

struct LayerWeights {
  gpu::Tensor mixer_norm;   // [dim] f32
  kernels::Matrix qkv;      // [(n_heads + 2 n_kv_heads) head_dim, dim]
  kernels::Matrix output;   // [dim, n_heads head_dim]
  gpu::Tensor ffn_norm;     // [dim] f32
  kernels::Matrix gate_up;  // [2 ffn_dim, dim], gate first
  kernels::Matrix down;     // [dim, ffn_dim]
};

struct Weights {
  kernels::Matrix embedding;  // [vocab, dim]
  std::vector<LayerWeights> layers;
  gpu::Tensor final_norm;  // [dim] f32
  kernels::Matrix head;    // [vocab, dim]; the embedding again when tied
};

// Plans the weights of one checkpoint file, then binds them.
class WeightPlan {
 public:
  // Plans buffers in `buffers` and the uploads from `file`. No binding exceeds `max_binding_bytes`: larger embeddings
  // and heads are split by rows. Errors: a tensor is missing or misshapen, or parts of one matrix differ in type.
  static Result<WeightPlan> make(const WeightNames& names, const ModelSpec& spec,
                                 const load::Checkpoint& file, std::uint64_t max_binding_bytes,
                                 Buffers& buffers);

  std::span<const load::UploadStep> steps() const { return steps_; }
  Weights bind(const Buffers& buffers) const;

 private:
  struct PlannedLayer {
    Slot mixer_norm{};
    PlannedMatrix qkv;
    PlannedMatrix output;
    Slot ffn_norm{};
    PlannedMatrix gate_up;
    PlannedMatrix down;
  };
  class Builder;

  PlannedMatrix embedding_;
  std::vector<PlannedLayer> layers_;
  Slot final_norm_{};
  PlannedMatrix head_;
  std::vector<load::UploadStep> steps_;
};

}  // namespace ztvm::model
