#pragma once
// The weights of a model of attention and dense feed-forward layers: names in a checkpoint, and the buffers once
// allocated.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/spec.hpp"
#include "model/weight_plan.hpp"

namespace ztvm::model {

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

// Plans the weights of one checkpoint, then binds them.
class ModelWeights {
 public:
  // Plans buffers in `buffers` and the uploads from `checkpoint`. Errors: those of WeightPlan::Builder.
  static Result<ModelWeights> plan(const WeightNames& names, const ModelSpec& spec,
                                   const load::Checkpoint& checkpoint, std::uint64_t max_binding_bytes,
                                   Buffers& buffers);

  std::span<const load::UploadStep> steps() const { return plan_.steps(); }
  Weights bind(const Buffers& buffers) const;

 private:
  struct PlannedLayer {
    VectorHandle mixer_norm{};
    MatrixHandle qkv{};
    MatrixHandle output{};
    VectorHandle ffn_norm{};
    MatrixHandle gate_up{};
    MatrixHandle down{};
  };

  MatrixHandle embedding_{};
  std::vector<PlannedLayer> layers_;
  VectorHandle final_norm_{};
  MatrixHandle head_{};
  WeightPlan plan_;
};

}  // namespace ztvm::model
