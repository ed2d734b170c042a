#pragma once
// The engine as its front ends see it (command line, server, wasm): open a model piece by piece, chat, watch progress.
// It never blocks, reads no file and knows no clock: the front end supplies bytes, polls, and passes time in.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/generation.hpp"
#include "gpu/device.hpp"
#include "gpu/executor.hpp"
#include "gpu/tuning.hpp"
#include "load/wanted_range.hpp"
#include "model/kv_type.hpp"

namespace ztvm::engine {

enum class Backend : std::uint8_t {
  gpu,
  reference,       // the oracles on the CPU; the device is a gpu::HostDevice
  lockstep,        // both, op by op, compared; natively only
  lockstep_async,  // the same for a browser: as many ops as fit in memory at a time
};

struct EngineOptions {
  std::uint32_t context = 0;   // tokens; 0: the model's own, at most default_context() of model_plan.hpp
  std::uint32_t max_rows = 0;  // rows of a prefill chunk; 0: chosen for the kernel set
  Backend backend = Backend::gpu;
  std::optional<gpu::Target> target;  // kernel set; none: chosen for the adapter
  model::KvType kv = model::KvType::floats;
  gpu::Tuning tuning;     // forms of ops that were measured before on this adapter
  bool autotune = false;  // Backend::gpu: what is missing there is measured at the end of loading
  std::uint64_t autotune_min_bytes = 0;   // of weights: smaller models wait for dispatches, not for kernels
  std::function<double()> now_ms;         // monotonic clock of the host
  gpu::LockstepReport* report = nullptr;  // filled by lockstep, outlives the engine
};

// What one kind of op takes of a pass, see engine/profile.hpp.
struct KernelTime {
  std::string name;           // of the op, without its layer
  std::uint32_t n_ops = 0;    // dispatches a pass
  double ms = 0.0;            // a pass, all of them
  std::uint64_t n_bytes = 0;  // of weights that they need a pass
};

struct PassTimes {
  std::vector<KernelTime> kernels;
  double whole_ms = 0.0;  // the pass without times between its ops, which lengthen it
};

// How a model with random weights differs from the published shape.
struct RandomOptions {
  std::uint32_t n_layers = 0;  // 0: all
  std::uint32_t vocab = 0;     // 0: the true one
  std::uint64_t seed = 1;
};

// Takes the residual stream after the embedding (layer 0) and after each layer, for some rows of a sequence:
// [n, dim] f32, little-endian. Called in order of rows for each layer.
using HiddenSink = std::function<Result<void>(std::size_t layer, Bytes rows)>;

// What a probe gives: hidden states (where the sink is not empty), and at its end logits [vocab] of the last token.
struct ProbeSinks {
  HiddenSink hidden;
  std::function<Result<void>(std::span<const float> logits)> logits;
};

// Takes the logits of the ids that may be chosen, [n_valid_ids], after the token at `position`. Called in order.
using LogitsSink = std::function<Result<void>(std::size_t position, std::span<const float> logits)>;

// Which model: a .gguf, or a folder of several files as MLC and MLX publish them.
struct ModelName {
  std::string name;  // of the file or folder, for errors
  bool is_folder = false;
  std::uint64_t n_file_bytes = 0;  // of the .gguf
};

// Memory that a model takes on its device, known once its headers were read and before any weight is.
struct MemoryPlan {
  std::uint64_t weights_bytes = 0;
  std::uint64_t kv_cache_bytes = 0;
  std::uint64_t state_bytes = 0;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t largest_buffer_bytes = 0;
  std::uint32_t context = 0;      // tokens planned for
  std::uint32_t max_context = 0;  // most tokens that the model and the adapter's limits allow
  std::uint64_t read_bytes = 0;   // of the files, weights alone
  std::uint64_t decode_weights_bytes =
      0;  // of weights that one decoded token reads: not the embedding, chosen experts only
  std::uint64_t total_bytes() const { return weights_bytes + kv_cache_bytes + state_bytes + scratch_bytes; }
};

// What a call of step() has to tell.
struct StepEvent {
  std::string text;                          // complete characters only; may be empty
  std::vector<std::uint32_t> ids;            // tokens that became known in this step
  FinishReason finish = FinishReason::none;  // not none: the generation is over
};

class Engine {
 public:
  // Starts opening a model. The device outlives the engine.
  static Result<std::unique_ptr<Engine>> open(gpu::Device& device, const ModelName& model,
                                              EngineOptions options);
  // A model of a published shape with random weights, without any file. It takes and gives ids, and has no text.
  // Errors: not_found, listing the aliases; those of the memory plan and of allocation.
  static Result<std::unique_ptr<Engine>> open_random(gpu::Device& device, std::string_view alias,
                                                     const RandomOptions& random, EngineOptions options);
  virtual ~Engine() = default;

  // The next range to supply, or nothing once everything was read. At most 8 MiB after the headers.
  virtual std::optional<load::WantedRange> wanted() const = 0;
  // The range of weights that is wanted after `n` others, for reading ahead; nothing where that is not known yet.
  virtual std::optional<load::WantedRange> wanted_later(std::size_t n) const = 0;
  // Takes exactly the bytes of wanted(), and the length of the file they are from.
  // Errors: whatever the file does not keep of its format; a model that does not fit the adapter.
  virtual Result<void> supply(Bytes bytes, std::uint64_t n_file_bytes) = 0;
  // Says that the wanted file does not exist. Errors: not_found unless it is optional.
  virtual Result<void> supply_missing() = 0;
  // Nothing until the headers were read.
  virtual std::optional<MemoryPlan> memory_plan() const = 0;
  // True when all weights are on the device, every pipeline is compiled and what is to be measured is. Polls the device;
  // with `wait` (native only) it returns after something happened.
  virtual Result<bool> ready(bool wait) = 0;
  // The forms that were measured, before and in ready(), where they are looked for in the options.
  virtual const gpu::Tuning& tuning() const = 0;

  virtual std::uint32_t context() const = 0;  // tokens that fit
  virtual std::uint32_t dispatches_per_token() const = 0;

  // Renders the messages with the model's chat template and starts an answer. Errors: context_full (both numbers).
  virtual Result<void> begin_chat(std::span<const Message> messages, const GenerateOptions& options) = 0;
  virtual Result<void> begin_ids(std::span<const std::uint32_t> ids, const GenerateOptions& options) = 0;
  // Encodes `text` as it is, control tokens off, no template, and starts to continue it.
  virtual Result<void> begin_text(std::string_view text, const GenerateOptions& options) = 0;
  // Advances a running generation without blocking: polls the device, submits what can run, returns what is new.
  // With `wait` (native only) it returns after something happened.
  virtual Result<StepEvent> step(bool wait) = 0;
  // Ends the running generation; its tokens so far stay in the cache. step() then reports `interrupted`.
  virtual void interrupt() = 0;

  // The ids of `text` as begin_text() continues it. Errors: unsupported without a tokenizer.
  virtual Result<std::vector<std::uint32_t>> encode_text(std::string_view text) const = 0;
  // Gives the logits after each of `ids`, from an empty cache, in passes of at most `max_rows` rows (0: as prefill does;
  // 1: as decode does). Blocks: natively only.
  virtual Result<void> score(std::span<const std::uint32_t> ids, std::uint32_t max_rows,
                             const LogitsSink& sink) = 0;
  // Starts to run `ids` from an empty cache and to look inside. Errors: those of a prompt; invalid_argument while a
  // generation or a probe runs.
  virtual Result<void> begin_probe(std::span<const std::uint32_t> ids, ProbeSinks sinks) = 0;
  // Advances a probe as step() does a generation; true once it gave its logits. Errors end it.
  virtual Result<bool> step_probe(bool wait) = 0;
  // A whole probe: logits [vocab] after `ids`. The sink may be empty. Blocks: natively only.
  Result<std::vector<float>> compute_logits(std::span<const std::uint32_t> ids, const HiddenSink& hidden);

  // Time of each kind of op of a pass, see engine/profile.hpp. Blocks: natively only, on a GPU.
  virtual Result<PassTimes> profile_pass(std::uint32_t n_rows, std::uint32_t depth) = 0;

  virtual std::span<const std::uint32_t> prompt_ids() const = 0;
  virtual Timings timings() const = 0;
};

}  // namespace ztvm::engine
