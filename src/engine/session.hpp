#pragma once
// One sequence of tokens on a device: prefill in chunks, decode with several tokens in flight, prefix reuse.
// A state machine that never blocks: begin() a generation, then step() until `finish` is set.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/generation.hpp"
#include "engine/passes.hpp"
#include "engine/recurrent_snapshots.hpp"
#include "kernels/step.hpp"
#include "model/decoder.hpp"

namespace ztvm::engine {

struct SessionStep {
  std::span<const std::uint32_t> ids;  // tokens that became known; valid until the next call
  FinishReason finish = FinishReason::none;
};

class Session {
 public:
  // `stop_ids` end a generation unless it ignores them. Everything given outlives the session.
  Session(gpu::Device& device, Passes& passes, const model::State& state, const model::ModelSpec& spec,
          std::uint32_t context, std::span<const std::uint32_t> stop_ids);

  // Errors: invalid_argument for an empty prompt or an id outside the vocabulary; context_full with both numbers.
  Result<void> check_prompt(std::span<const std::uint32_t> prompt) const;
  // Starts to continue `prompt`; keys and values of the longest common prefix with the last sequence are reused, with
  // recurrent layers as far as a copy of their state reaches.
  // Errors: those of check_prompt() and of the options.
  Result<void> begin(std::span<const std::uint32_t> prompt, const GenerateOptions& options);
  // Submits what can run, takes in what has arrived. With `wait` it returns after something arrived.
  // Errors: the device's; then the sequence is forgotten.
  Result<SessionStep> step(bool wait);
  void interrupt() { interrupted_ = true; }

  bool is_running() const { return running_; }
  std::uint32_t n_reused() const { return n_reused_; }
  std::uint32_t context() const { return context_; }
  // Forgets keys and values, so that the next begin() prefills everything.
  void forget();

 private:
  // What a submitted pass will bring.
  struct InFlight {
    std::uint32_t generation = 0;
    std::uint32_t n_chosen_after = 0;  // 0 for prefill chunks without a choice
  };

  kernels::Step first_step() const;
  std::uint32_t reusable_tokens(std::span<const std::uint32_t> prompt);
  void submit_prefill_chunk();
  void submit_decode();
  void submit_choice();
  void save_recurrent_state();
  // Tokens that the passes submitted so far take in; the one chosen last is taken in by the next.
  std::uint32_t n_taken_in() const { return n_prefilled_ + std::max(n_submitted_, 1u) - 1; }
  Result<void> submit_ready_work();
  void read_back(std::uint32_t n_chosen_after);
  void take(const kernels::Step& step, SessionStep& out);
  void finish(FinishReason reason, SessionStep& out);

  gpu::Device& device_;
  Passes& passes_;
  const model::State& state_;
  const model::ModelSpec& spec_;
  std::uint32_t context_ = 0;
  std::vector<std::uint32_t> stop_ids_;

  RecurrentSnapshots snapshots_;

  std::vector<std::uint32_t> cached_;  // tokens whose keys and values are in the cache
  std::vector<std::uint32_t> prompt_;
  GenerateOptions options_;
  bool running_ = false;
  bool interrupted_ = false;
  std::uint32_t generation_ = 0;
  std::uint32_t n_reused_ = 0;
  std::uint32_t n_prefilled_ = 0;    // prompt tokens submitted, the reused among them
  std::uint32_t n_before_tail_ = 0;  // where the prompt's copy of recurrent state is made; 0: nowhere
  std::uint32_t n_submitted_ = 0;    // choices submitted
  std::uint32_t max_tokens_ = 0;     // asked for, or what the context leaves
  std::vector<std::uint32_t> output_;

  std::size_t n_in_flight_ = 0;
  std::vector<std::pair<InFlight, kernels::Step>> arrived_;
  Result<void> read_status_;
};

}  // namespace ztvm::engine
