#pragma once
// The passes of one model on one executor: prefill a chunk, decode a token, choose, advance.
#include <cstdint>
#include <memory>

#include "engine/generation.hpp"
#include "gpu/executor.hpp"
#include "kernels/matmul/matmul.hpp"
#include "model/decoder.hpp"

namespace ztvm::engine {

class Passes {
 public:
  static constexpr std::uint32_t k_few_rows = kernels::k_few_rows;

  // Records everything; on a GPU the pipelines start compiling.
  Passes(std::unique_ptr<gpu::Executor> executor, const model::Decoder& decoder,
         const model::Weights& weights, const model::Buffers& buffers);

  // Queues a pass over `n_rows` rows that step and tokens describe. Only the last chunk of a prompt needs a choice.
  void body(std::uint32_t n_rows);
  // The same, up to and including `end` of Body::ends: the residual stream of that layer.
  void body_part(std::uint32_t n_rows, std::size_t end);
  // The ops before `end` of the body recorded for up to `max_rows` rows: what leaves that op's input.
  void body_before(std::uint32_t max_rows, std::uint32_t n_rows, std::size_t end);
  void head();                               // logits of the last row
  void choose(const SamplerParams& params);  // one token from the logits, fed back
  Result<void> flush() { return executor_->flush(); }

  std::size_t n_layer_ends() const { return chunk_.ends.size(); }
  std::uint32_t max_rows() const { return max_rows_; }
  // Ops of one decoded token with greedy choice.
  std::uint32_t dispatches_per_token() const;

 private:
  struct BodyId {
    gpu::RecordingId id{};
    std::vector<std::size_t> ends;
  };
  BodyId add(model::Body body);
  const BodyId& body_for(std::uint32_t n_rows) const {
    return n_rows == 1 ? single_ : n_rows <= k_few_rows ? few_ : chunk_;
  }

  std::unique_ptr<gpu::Executor> executor_;
  std::uint32_t max_rows_ = 1;
  BodyId single_;  // one row: decode
  BodyId few_;     // up to k_few_rows: short prompts, where tiles of rows would be mostly empty
  BodyId chunk_;   // up to max_rows: prefill
  gpu::RecordingId head_{};
  gpu::RecordingId penalise_{};
  gpu::RecordingId argmax_{};
  gpu::RecordingId sample_{};
  gpu::RecordingId advance_{};
};

}  // namespace ztvm::engine
