#include "engine/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/rows.hpp"

namespace ztvm::engine {
namespace {

// Passes queued ahead of the host: enough to hide the round trip, few enough to stop soon.
constexpr std::size_t k_max_in_flight = 3;
static_assert(k_max_in_flight < kernels::k_ring_tokens);

// The last tokens of a prompt, which ask for an answer (and may close an empty thought), are not in the next turn's
// prompt; recurrent state is copied before them.
constexpr std::uint32_t k_prompt_tail = 16;
// Decoded tokens between copies of recurrent state: what a stop that was seen late costs at most to compute again.
constexpr std::uint32_t k_snapshot_interval = 64;

}  // namespace

Session::Session(gpu::Device& device, Passes& passes, const model::State& state, const model::ModelSpec& spec,
                 std::uint32_t context, std::span<const std::uint32_t> stop_ids)
    : device_(device),
      passes_(passes),
      state_(state),
      spec_(spec),
      context_(context),
      stop_ids_(stop_ids.begin(), stop_ids.end()),
      snapshots_(device, state_.recurrent) {}

void Session::forget() {
  cached_.clear();
  snapshots_.clear();
}

Result<void> Session::check_prompt(std::span<const std::uint32_t> prompt) const {
  if (prompt.empty())
    return fail(ErrorCode::invalid_argument, "The prompt has no tokens, expected at least one.");
  for (const std::uint32_t id : prompt) {
    if (id < spec_.vocab) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("Prompt id {} is outside the vocabulary of {} tokens.", id, spec_.vocab));
  }
  if (prompt.size() > context_) {
    return fail(
        ErrorCode::context_full,
        fmt::format(
            "The prompt has {} tokens, but the context holds {}{}.", prompt.size(), context_,
            prompt.size() <= spec_.max_context
                ? fmt::format("; --context asks for more, on the page ?ctx= (the model takes up to {})",
                              spec_.max_context)
                : ""));
  }
  return {};
}

Result<void> Session::begin(std::span<const std::uint32_t> prompt, const GenerateOptions& options) {
  if (running_)
    return fail(ErrorCode::invalid_argument, "A generation is running; end it before the next begins.");
  if (auto valid = validate(options.sampler); !valid) return forward(valid);
  if (auto valid = check_prompt(prompt); !valid) return valid;
  if (options.max_tokens == 0) {
    return fail(ErrorCode::invalid_argument, "The number of tokens to generate is 0, expected at least 1.");
  }
  n_reused_ = reusable_tokens(prompt);
  cached_.resize(n_reused_);
  prompt_.assign(prompt.begin(), prompt.end());
  options_ = options;
  running_ = true;
  interrupted_ = false;
  ++generation_;
  n_prefilled_ = n_reused_;
  n_before_tail_ = 0;
  if (snapshots_.needed() && prompt.size() > n_reused_ + k_prompt_tail) {
    n_before_tail_ = static_cast<std::uint32_t>(prompt.size()) - k_prompt_tail;
  }
  n_submitted_ = 0;
  // The token chosen at the last position needs no cache slot of its own, hence the + 1.
  max_tokens_ = std::min(options.max_tokens, context_ - static_cast<std::uint32_t>(prompt.size()) + 1);
  output_.clear();
  output_.reserve(max_tokens_);
  read_status_ = {};
  arrived_.clear();  // what an older generation left in flight
  if (options.sampler.repeat_penalty != 1.0f) {
    std::vector<std::uint32_t> seen(spec_.vocab, 0);
    for (const std::uint32_t id : prompt) seen[id] = 1;
    device_.write(state_.seen.buffer, 0, as_bytes(seen));
  }
  return {};
}

std::uint32_t Session::reusable_tokens(std::span<const std::uint32_t> prompt) {
  const auto common = std::mismatch(cached_.begin(), cached_.end(), prompt.begin(), prompt.end()).first;
  // The last prompt token always runs: its logits choose the first token.
  const std::uint32_t most = std::min(static_cast<std::uint32_t>(common - cached_.begin()),
                                      static_cast<std::uint32_t>(prompt.size()) - 1);
  return snapshots_.needed() ? snapshots_.restore(most) : most;
}

kernels::Step Session::first_step() const {
  const SamplerParams& sampler = options_.sampler;
  kernels::Step step;
  step.position = n_prefilled_;
  step.temperature = sampler.temperature;
  step.top_p = sampler.top_p;
  step.min_p = sampler.min_p;
  step.repeat_penalty = sampler.repeat_penalty;
  step.top_k = sampler.top_k;
  step.seed_low = static_cast<std::uint32_t>(sampler.seed);
  step.seed_high = static_cast<std::uint32_t>(sampler.seed >> 32);
  return step;
}

void Session::submit_prefill_chunk() {
  const auto n_prompt = static_cast<std::uint32_t>(prompt_.size());
  const std::uint32_t until = n_prefilled_ < n_before_tail_ ? n_before_tail_ : n_prompt;
  const std::uint32_t n_rows = std::min(passes_.max_rows(), until - n_prefilled_);
  write_rows(device_, state_, first_step(), std::span(prompt_).subspan(n_prefilled_, n_rows));
  n_prefilled_ += n_rows;
  passes_.body({n_rows, n_prefilled_});
  if (n_prefilled_ == n_prompt) submit_choice();
}

void Session::submit_decode() {
  passes_.body({1, n_taken_in() + 1});
  submit_choice();
}

// The logits of the last row, and one token from them.
void Session::submit_choice() {
  passes_.head();
  passes_.choose(options_.sampler);
  ++n_submitted_;
}

// Copies recurrent state where the sequence may be taken up again, after the pass that got there was submitted.
void Session::save_recurrent_state() {
  if (!snapshots_.needed()) return;
  if (n_submitted_ == 0 && n_taken_in() == n_before_tail_) {
    snapshots_.save(RecurrentSnapshots::Kind::prompt, n_taken_in());
  } else if (n_submitted_ > 1 && n_taken_in() % k_snapshot_interval == 0) {
    snapshots_.save(RecurrentSnapshots::Kind::decode, n_taken_in());
  }
}

Result<void> Session::submit_ready_work() {
  // A device whose reads are ready at once never has passes in flight, so a call is bounded by their number too.
  for (std::size_t n = 0; n < k_max_in_flight && n_in_flight_ < k_max_in_flight && !interrupted_; ++n) {
    if (n_prefilled_ < prompt_.size()) {
      submit_prefill_chunk();
    } else if (n_submitted_ < max_tokens_) {
      submit_decode();
    } else {
      break;
    }
    if (auto flushed = passes_.flush(); !flushed) return forward(flushed);
    save_recurrent_state();
    read_back(n_prefilled_ == prompt_.size() ? n_submitted_ : 0);
  }
  return {};
}

void Session::read_back(std::uint32_t n_chosen_after) {
  ++n_in_flight_;
  const InFlight what = {.generation = generation_, .n_chosen_after = n_chosen_after};
  device_.read(state_.step.buffer, 0, sizeof(kernels::Step), [this, what](Result<Bytes> bytes) {
    --n_in_flight_;
    if (what.generation != generation_) return;  // an older generation's overshoot
    if (bytes) {
      arrived_.emplace_back(what, load_as<kernels::Step>(*bytes, 0));
    } else if (read_status_) {
      read_status_ = forward(bytes);
    }
  });
}

void Session::take(const kernels::Step& step, SessionStep& out) {
  while (output_.size() < step.n_chosen && running_) {
    const std::uint32_t id = step.ring[output_.size() % kernels::k_ring_tokens];
    output_.push_back(id);
    const bool is_stop = std::find(stop_ids_.begin(), stop_ids_.end(), id) != stop_ids_.end();
    if (is_stop && !options_.ignore_eos) {
      finish(FinishReason::stop, out);
    } else if (output_.size() == max_tokens_) {
      finish(FinishReason::length, out);
    }
  }
}

void Session::finish(FinishReason reason, SessionStep& out) {
  running_ = false;
  out.finish = reason;
  // Passes still in flight only write positions behind these, which the next sequence overwrites.
  cached_.assign(prompt_.begin(), prompt_.begin() + n_prefilled_);
  if (output_.size() > 1) cached_.insert(cached_.end(), output_.begin(), output_.end() - 1);
  // A recurrent state that took in tokens behind these cannot be cut back.
  const auto n_cached = static_cast<std::uint32_t>(cached_.size());
  snapshots_.set_live(n_taken_in() == n_cached ? std::optional(n_cached) : std::nullopt);
  snapshots_.drop_beyond(n_cached);
}

Result<SessionStep> Session::step(bool wait) {
  SessionStep out;
  if (!running_) return out;
  const std::size_t n_known = output_.size();
  if (interrupted_) {
    finish(FinishReason::interrupted, out);
    return out;
  }
  // What has arrived makes room first, so that all passes that may be in flight are while the caller waits.
  Result<void> status = device_.poll(false);
  if (status) status = submit_ready_work();
  if (status) status = device_.poll(wait && arrived_.empty());
  if (status) status = std::move(read_status_);
  read_status_ = {};
  if (!status) {
    running_ = false;
    forget();
    return forward(status);
  }
  for (const auto& [what, step] : arrived_) {
    if (step.n_not_finite > 0 && what.n_chosen_after > 0 && running_) {
      running_ = false;
      forget();
      arrived_.clear();
      return fail(
          ErrorCode::device,
          fmt::format(
              "{} of the model's logits are not finite numbers; run `zerotvm validate` to find the op.",
              step.n_not_finite));
    }
    if (what.n_chosen_after > 0) take(step, out);
  }
  arrived_.clear();
  out.ids = std::span(output_).subspan(n_known);
  return out;
}

}  // namespace ztvm::engine
