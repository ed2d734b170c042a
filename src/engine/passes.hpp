#pragma once
// The passes of one model on one executor: prefill a chunk, decode a token, choose, advance.
#include <cstdint>
#include <memory>

#include "engine/generation.hpp"
#include "gpu/executor.hpp"
#include "model/decoder.hpp"

namespace ztvm::engine {

// The most rows of each recording of a body, in order: one row, which is decode; few and some for short prompts, of which
// large tiles of rows would be mostly empty; `max_rows` for prefill. Fewer where `max_rows` is no more.
std::vector<std::uint32_t> recorded_rows(std::uint32_t max_rows, const gpu::Target& target);

class Passes {
 public:
  // Records everything; on a GPU the pipelines start compiling.
  Passes(std::unique_ptr<gpu::Executor> executor, const model::Decoder& decoder,
         const model::Weights& weights, const model::Buffers& buffers);

  // Queues a pass over the rows that step and tokens describe. Only the last chunk of a prompt needs a choice.
  void body(gpu::Extent extent);
  // The same, up to and including `end` of Body::ends: the residual stream of that layer.
  void body_part(std::uint32_t n_rows, std::size_t end);
  // The ops before `end` of the body recorded for up to `max_rows` rows: what leaves that op's input.
  void body_before(std::uint32_t max_rows, std::uint32_t n_rows, std::size_t end);
  void head();                               // logits of the last row
  void choose(const SamplerParams& params);  // one token from the logits, fed back
  Result<void> flush() { return executor_->flush(); }

  std::size_t n_layer_ends() const { return bodies_.back().ends.size(); }
  std::uint32_t max_rows() const { return bodies_.back().max_rows; }
  // Ops of one decoded token with greedy choice.
  std::uint32_t dispatches_per_token() const;

 private:
  struct BodyId {
    std::uint32_t max_rows = 0;
    gpu::RecordingId id{};
    std::vector<std::size_t> ends;
  };
  // The smallest that takes so many rows.
  const BodyId& body_for(std::uint32_t n_rows) const;

  std::unique_ptr<gpu::Executor> executor_;
  std::vector<BodyId> bodies_;  // of recorded_rows()
  gpu::RecordingId head_{};
  gpu::RecordingId penalise_{};
  gpu::RecordingId argmax_{};
  gpu::RecordingId sample_{};
  gpu::RecordingId advance_{};
};

}  // namespace ztvm::engine
