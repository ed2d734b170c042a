#pragma once
// The decoder: state and scratch buffers of a model, and its passes recorded as ops. Written once; executors differ.
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/op.hpp"
#include "model/buffers.hpp"
#include "model/kv_type.hpp"
#include "model/layer_state.hpp"
#include "model/layers.hpp"
#include "model/scratch.hpp"
#include "model/spec.hpp"
#include "model/weights.hpp"

namespace ztvm::model {

struct DecoderOptions {
  std::uint32_t context = 0;   // positions the cache holds
  std::uint32_t max_rows = 1;  // rows of a prefill chunk
  gpu::Target target;
  gpu::Limits limits;
  KvType kv = KvType::floats;
};

// Buffers that all layers share, planned once.
struct StatePlan {
  Slot step{};    // Step
  Slot tokens{};  // [max_rows] u32
  Slot pages{};   // [n_pages] u32
  Slot seen{};    // [vocab] u32
  Slot rope{};    // [context, n_rotated / 2, 2] f32
};

// What the host reads and writes between passes.
struct State {
  gpu::Tensor step;
  gpu::Tensor tokens;
  gpu::Tensor pages;
  gpu::Tensor seen;
  gpu::Tensor rope;
  gpu::Tensor x;
  gpu::Tensor logits;
  std::vector<RecurrentBuffers> recurrent;  // empty unless a layer has recurrent state
};

// A pass over rows: its ops, and where the residual stream is complete: after the embedding and after each layer.
struct Body {
  gpu::Recording recording;
  std::vector<std::size_t> ends;  // [1 + layers], number of ops up to there
};

class Decoder {
 public:
  // Plans state and scratch in `buffers`, which may hold the weights' plan already.
  static Decoder plan(const ModelSpec& spec, ModelWeights weights, const DecoderOptions& options,
                      Buffers& buffers);

  // After allocation: records the passes.
  Body record_body(const Weights& weights, const Buffers& buffers, std::uint32_t max_rows) const;
  gpu::Recording record_head(const Weights& weights, const Buffers& buffers) const;  // last row to logits
  gpu::Recording record_penalise(const Buffers& buffers) const;
  gpu::Recording record_argmax(const Buffers& buffers) const;
  gpu::Recording record_sample(const Buffers& buffers) const;
  gpu::Recording record_advance(const Buffers& buffers) const;

  // Recordings from now on take the forms that were measured as the fastest.
  void set_tuning(std::shared_ptr<const gpu::Tuning> tuning) { tuning_ = std::move(tuning); }

  State state(const Buffers& buffers) const;
  const DecoderOptions& options() const { return options_; }
  const ModelSpec& spec() const { return spec_; }
  std::uint32_t n_pages() const;

 private:
  gpu::Recording empty_recording(std::uint32_t max_rows) const;

  ModelSpec spec_;
  ModelWeights weights_;
  DecoderOptions options_;
  StatePlan state_;
  LayerStatePlan layers_;
  ScratchPlan scratch_;
  std::shared_ptr<const gpu::Tuning> tuning_;
};

}  // namespace ztvm::model
