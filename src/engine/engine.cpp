#include "engine/engine.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/model_loader.hpp"
#include "engine/probe.hpp"
#include "engine/profile.hpp"
#include "engine/random_model.hpp"
#include "engine/session.hpp"
#include "engine/true_shapes.hpp"
#include "engine/tuner.hpp"
#include "text/stream_decoder.hpp"

namespace ztvm::engine {
namespace {

constexpr std::uint64_t k_lockstep_bytes = 512ull << 20;  // of a wasm module's 4 GiB

std::unique_ptr<gpu::Executor> make_executor(gpu::Device& device, const EngineOptions& options) {
  switch (options.backend) {
    case Backend::gpu: break;
    case Backend::reference: return gpu::make_reference_executor(*device.as_host());
    case Backend::lockstep: return gpu::make_lockstep_executor(device, *options.report);
    case Backend::lockstep_async:
      return gpu::make_async_lockstep_executor(device, *options.report, k_lockstep_bytes);
  }
  return gpu::make_gpu_executor(device);
}

LoadOptions load_options(const EngineOptions& options, const gpu::Target& target) {
  return {.context = options.context, .max_rows = options.max_rows, .target = target, .kv = options.kv};
}

OrderedJson to_json(std::span<const Message> messages) {
  OrderedJson list = OrderedJson::array();
  for (const Message& message : messages)
    list.push_back({{"role", message.role}, {"content", message.content}});
  return list;
}

class EngineImpl final : public Engine {
 public:
  EngineImpl(gpu::Device& device, const ModelName& model, EngineOptions options, const gpu::Target& target)
      : device_(device),
        options_(std::move(options)),
        tuning_(std::make_shared<const gpu::Tuning>(options_.tuning)),
        started_ms_(options_.now_ms()),
        loader_(device, model, load_options(options_, target)) {}

  // Over a model that is complete already.
  EngineImpl(gpu::Device& device, std::unique_ptr<Model> model, EngineOptions options,
             const gpu::Target& target)
      : EngineImpl(device, ModelName{}, std::move(options), target) {
    model_ = std::move(model);
    record_passes();
  }

  std::optional<load::WantedRange> wanted() const override;
  std::optional<load::WantedRange> wanted_later(std::size_t n) const override {
    return model_ ? std::nullopt : loader_.wanted_later(n);
  }
  Result<void> supply(Bytes bytes, std::uint64_t n_file_bytes) override {
    return loader_.supply(bytes, n_file_bytes);
  }
  Result<void> supply_missing() override { return loader_.supply_missing(); }
  std::optional<MemoryPlan> memory_plan() const override {
    return model_ ? std::optional(model_->memory) : loader_.memory_plan();
  }
  Result<bool> ready(bool wait) override;
  const gpu::Tuning& tuning() const override { return *tuning_; }
  std::uint32_t context() const override { return model_ ? model_->context : 0; }
  std::uint32_t dispatches_per_token() const override {
    return passes_ ? passes_->dispatches_per_token() : 0;
  }
  Result<void> begin_chat(std::span<const Message> messages, const GenerateOptions& options) override;
  Result<void> begin_ids(std::span<const std::uint32_t> ids, const GenerateOptions& options) override;
  Result<void> begin_text(std::string_view text, const GenerateOptions& options) override;
  Result<StepEvent> step(bool wait) override;
  void interrupt() override {
    if (session_) session_->interrupt();
  }
  Result<std::vector<std::uint32_t>> encode_text(std::string_view text) const override;
  Result<void> score(std::span<const std::uint32_t> ids, std::uint32_t max_rows,
                     const LogitsSink& sink) override;
  Result<void> begin_probe(std::span<const std::uint32_t> ids, ProbeSinks sinks) override;
  Result<bool> step_probe(bool wait) override;
  Result<PassTimes> profile_pass(std::uint32_t n_rows, std::uint32_t depth) override {
    if (auto r = require_rest(); !r) return forward(r);
    session_->forget();
    return engine::profile_pass(device_, *model_, n_rows, depth);
  }
  std::span<const std::uint32_t> prompt_ids() const override { return prompt_ids_; }
  Timings timings() const override { return timings_; }

 private:
  Result<void> require_ready() const;
  Result<void> require_rest() const;  // ready, and no probe runs
  void record_passes();
  Result<bool> tune(bool wait);
  void keep_time();

  // In order of ownership: what is below borrows from what is above.
  gpu::Device& device_;
  EngineOptions options_;
  std::shared_ptr<const gpu::Tuning> tuning_;
  double started_ms_ = 0.0;
  ModelLoader loader_;
  std::unique_ptr<Model> model_;
  model::State state_;
  std::unique_ptr<Passes> passes_;
  std::unique_ptr<Session> session_;
  std::optional<Probe> probe_;
  std::unique_ptr<Tuner> tuner_;
  bool ready_ = false;

  std::vector<std::uint32_t> prompt_ids_;
  std::optional<text::StreamDecoder> decoder_;
  Timings timings_;
  double begun_ms_ = 0.0;
  double first_token_ms_ = 0.0;
};

std::optional<load::WantedRange> EngineImpl::wanted() const {
  return model_ ? std::nullopt : loader_.wanted();
}

void EngineImpl::record_passes() {
  model_->decoder.set_tuning(tuning_);
  state_ = model_->decoder.state(model_->buffers);
  session_.reset();
  passes_ = std::make_unique<Passes>(make_executor(device_, options_), model_->decoder,
                                     model::Weights(model_->weights, model_->buffers), model_->buffers);
  session_ = std::make_unique<Session>(device_, *passes_, state_, model_->spec, model_->context,
                                       model_->text ? std::span<const std::uint32_t>(model_->text->stop_ids)
                                                    : std::span<const std::uint32_t>());
}

// Measures what the tuning lacks; true once that is done. Passes that take other forms then are recorded anew.
Result<bool> EngineImpl::tune(bool wait) {
  if (!options_.autotune || options_.backend != Backend::gpu) return true;
  if (model_->memory.weights_bytes < options_.autotune_min_bytes) return true;
  if (!tuner_) tuner_ = std::make_unique<Tuner>(device_, *model_, *passes_, *tuning_, options_.now_ms);
  const auto done = tuner_->step(wait);
  if (!done || !*done) return done;
  options_.autotune = false;
  auto measured = std::make_shared<const gpu::Tuning>(tuner_->tuning());
  tuner_.reset();
  if (*measured == *tuning_) return true;
  tuning_ = std::move(measured);
  record_passes();
  return false;
}

Result<bool> EngineImpl::ready(bool wait) {
  if (!model_) {
    if (loader_.wanted()) return false;
    model_ = loader_.take();
    record_passes();
  }
  if (ready_) return true;
  if (auto polled = device_.poll(wait && device_.n_pending() > 0); !polled) return forward(polled);
  if (device_.n_pending() > 0 && !tuner_) return false;
  auto tuned = tune(wait);
  if (!tuned || !*tuned) return tuned;
  ready_ = true;
  timings_.load_ms = options_.now_ms() - started_ms_;
  return true;
}

Result<void> EngineImpl::require_ready() const {
  if (ready_) return {};
  return fail(ErrorCode::invalid_argument,
              "The model is still being loaded, so nothing can be generated yet.");
}

Result<void> EngineImpl::require_rest() const {
  if (auto r = require_ready(); !r) return r;
  if (!probe_ || !probe_->is_running()) return {};
  return fail(ErrorCode::invalid_argument, "A probe is running; end it before anything else begins.");
}

Result<void> EngineImpl::begin_chat(std::span<const Message> messages, const GenerateOptions& options) {
  if (auto r = require_ready(); !r) return r;
  if (model_->text && !model_->text->template_problem.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} Continue plain text instead (--raw).", model_->text->template_problem));
  }
  if (!model_->text || !model_->text->chat_template) {
    return fail(
        ErrorCode::unsupported,
        "The model has no chat template that this engine knows; continue plain text instead (--raw).");
  }
  auto segments = text::render_chat(*model_->text->chat_template, {.messages = to_json(messages),
                                                                   .tools = nullptr,
                                                                   .add_generation_prompt = true,
                                                                   .enable_thinking = false});
  if (!segments) return forward(segments);
  return begin_ids(text::encode_chat(model_->text->tokenizer, *segments, text::ChatEncoding::safe), options);
}

Result<std::vector<std::uint32_t>> EngineImpl::encode_text(std::string_view text) const {
  if (auto r = require_ready(); !r) return forward(r);
  if (!model_->text)
    return fail(ErrorCode::unsupported, "A model with random weights has no tokenizer; give it ids.");
  const auto bos = model_->text->tokenizer.bos_prefix();
  std::vector<std::uint32_t> ids(bos.begin(), bos.end());
  const auto encoded = model_->text->tokenizer.encode(text, text::AddedTokens::off);
  ids.insert(ids.end(), encoded.begin(), encoded.end());
  return ids;
}

Result<void> EngineImpl::begin_text(std::string_view text, const GenerateOptions& options) {
  auto ids = encode_text(text);
  if (!ids) return forward(ids);
  return begin_ids(*ids, options);
}

Result<void> EngineImpl::begin_ids(std::span<const std::uint32_t> ids, const GenerateOptions& options) {
  if (auto r = require_rest(); !r) return r;
  if (auto begun = session_->begin(ids, options); !begun) return begun;
  prompt_ids_.assign(ids.begin(), ids.end());
  if (model_->text) decoder_.emplace(model_->text->tokenizer, /*skip_special=*/true);
  begun_ms_ = options_.now_ms();
  timings_ = {.load_ms = timings_.load_ms,
              .n_prompt_tokens = static_cast<std::uint32_t>(ids.size()),
              .n_reused_tokens = session_->n_reused()};
  return {};
}

void EngineImpl::keep_time() {
  const double now = options_.now_ms();
  if (timings_.n_output_tokens == 0) {
    first_token_ms_ = now;
    timings_.prefill_ms = now - begun_ms_;
  }
  timings_.decode_ms = now - first_token_ms_;
}

Result<StepEvent> EngineImpl::step(bool wait) {
  if (auto r = require_ready(); !r) return forward(r);
  auto stepped = session_->step(wait);
  if (!stepped) return forward(stepped);
  StepEvent event = {
      .text = {}, .ids = {stepped->ids.begin(), stepped->ids.end()}, .finish = stepped->finish};
  if (!event.ids.empty()) keep_time();
  timings_.n_output_tokens += static_cast<std::uint32_t>(event.ids.size());
  for (const std::uint32_t id : event.ids) {
    if (!decoder_) break;
    if (auto pushed = decoder_->push(id, event.text); !pushed) return forward(pushed);
  }
  if (decoder_ && event.finish != FinishReason::none) decoder_->finish(event.text);
  return event;
}

Result<void> EngineImpl::begin_probe(std::span<const std::uint32_t> ids, ProbeSinks sinks) {
  if (auto r = require_rest(); !r) return r;
  if (session_->is_running()) {
    return fail(ErrorCode::invalid_argument, "A generation is running; end it before a probe begins.");
  }
  if (auto r = session_->check_prompt(ids); !r) return r;
  session_->forget();
  probe_.emplace(device_, *passes_, state_, model_->spec, ids, std::move(sinks));
  return {};
}

Result<bool> EngineImpl::step_probe(bool wait) {
  if (!probe_ || !probe_->is_running()) return fail(ErrorCode::invalid_argument, "No probe is running.");
  return probe_->step(wait);
}

Result<void> EngineImpl::score(std::span<const std::uint32_t> ids, std::uint32_t max_rows,
                               const LogitsSink& sink) {
  if (auto r = require_rest(); !r) return r;
  if (auto r = session_->check_prompt(ids); !r) return r;
  session_->forget();
  return engine::score(device_, *passes_, state_, model_->spec,
                       {.ids = ids, .max_rows = max_rows == 0 ? passes_->max_rows() : max_rows}, sink);
}

Result<gpu::Target> check_options(gpu::Device& device, const EngineOptions& options) {
  check(options.now_ms != nullptr, "the engine is given a clock");
  check((options.backend == Backend::reference) == (device.as_host() != nullptr),
        "the reference backend, and only it, runs on a host device");
  check(options.backend != Backend::lockstep || options.report != nullptr, "lockstep is given a report");
  const gpu::Target target = options.target.value_or(gpu::choose_target(device.caps()));
  if (gpu::supports(device.caps(), target)) return target;
  return fail(ErrorCode::unsupported, fmt::format("Adapter \"{}\" cannot run kernel set \"{}\".",
                                                  device.caps().adapter, gpu::describe(target)));
}

}  // namespace

Result<std::vector<float>> Engine::compute_logits(std::span<const std::uint32_t> ids,
                                                  const HiddenSink& hidden) {
  std::vector<float> logits;
  const auto keep = [&](std::span<const float> values) -> Result<void> {
    logits.assign(values.begin(), values.end());
    return {};
  };
  if (auto begun = begin_probe(ids, {.hidden = hidden, .logits = keep}); !begun) return forward(begun);
  while (true) {
    auto done = step_probe(true);
    if (!done) return forward(done);
    if (*done) return logits;
  }
}

Result<std::unique_ptr<Engine>> Engine::open(gpu::Device& device, const ModelName& model,
                                             EngineOptions options) {
  auto target = check_options(device, options);
  if (!target) return forward(target);
  return std::make_unique<EngineImpl>(device, model, std::move(options), *target);
}

Result<std::unique_ptr<Engine>> Engine::open_random(gpu::Device& device, std::string_view alias,
                                                    const RandomOptions& random, EngineOptions options) {
  auto target = check_options(device, options);
  if (!target) return forward(target);
  auto family = true_shape(alias, random.n_layers, random.vocab);
  if (!family) return forward(family);
  auto model = make_random_model(device, std::move(*family), load_options(options, *target), random.seed);
  if (!model) return forward(model);
  return std::make_unique<EngineImpl>(device, std::move(*model), std::move(options), *target);
}

}  // namespace ztvm::engine
