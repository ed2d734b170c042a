#include "web/bench.hpp"

#include <nlohmann/json.hpp>

#include "engine/random_model.hpp"
#include "engine/true_shapes.hpp"
#include "gpu/wasm_imports.hpp"

namespace ztvm::web {
namespace {

// What the native bench takes, unless more is needed.
std::uint32_t context_for(const gpu::Target& target, const bench::BenchOptions& options) {
  const std::uint32_t needed = bench::needed_context(options);
  return needed <= engine::default_context(target) ? 0 : needed;
}

engine::LoadOptions load_options(const gpu::Caps& caps, const BenchRequest& request) {
  const gpu::Target target = gpu::choose_target(caps);
  return {.context = context_for(target, request.options), .max_rows = 0, .target = target, .kv = request.kv};
}

}  // namespace

Result<engine::MemoryPlan> plan_bench(const gpu::Caps& caps, const BenchRequest& request) {
  auto family = engine::true_shape(request.model, request.n_layers);
  if (!family) return forward(family);
  engine::LoadOptions options = load_options(caps, request);
  auto plan = engine::plan_random_model(caps, *family, options);
  const std::uint32_t needed = bench::needed_context(request.options);
  if (plan && plan->context < needed) {
    // The adapter holds less than the default: asked for what is needed, the plan says why not.
    options.context = needed;
    plan = engine::plan_random_model(caps, std::move(*family), options);
  }
  if (!plan) return forward(plan);
  return plan->memory;
}

BenchRun::BenchRun(gpu::Device& device, BenchRequest request)
    : request_(std::move(request)), device_(device, ztvm_now_ms) {}

Result<std::unique_ptr<BenchRun>> BenchRun::open(gpu::Device& device, BenchRequest request) {
  std::unique_ptr<BenchRun> run(new BenchRun(device, std::move(request)));
  const engine::LoadOptions options = load_options(device.caps(), run->request_);
  engine::EngineOptions engine_options = {.context = options.context,
                                          .max_rows = options.max_rows,
                                          .target = options.target,
                                          .kv = options.kv,
                                          .now_ms = ztvm_now_ms};
  engine::use_tuning(device.caps(), run->request_.autotune, run->request_.tuning, engine_options);
  auto engine = engine::Engine::open_random(run->device_, run->request_.model,
                                            {.n_layers = run->request_.n_layers}, engine_options);
  if (!engine) return forward(engine);
  run->engine_ = std::move(*engine);
  return run;
}

Result<bool> BenchRun::ready() {
  auto ready = engine_->ready(false);
  if (ready && *ready && !benchmark_) benchmark_.emplace(device_, *engine_, request_.options, ztvm_now_ms);
  return ready;
}

Result<Json> BenchRun::figures() const {
  bench::BenchFigures figures = benchmark_->figures();
  figures.kernels = gpu::describe(gpu::choose_target(device_.caps()));
  if (request_.kv == model::KvType::int8) figures.kernels += ", int8 KV cache";
  if (auto possible = bench::check_roofline(figures); !possible) return forward(possible);
  Json json = bench::figures_json(figures);
  json["model"] = request_.model + " with random weights";
  if (request_.n_layers != 0) json["n_layers"] = request_.n_layers;
  json["n_gen_tokens"] = request_.options.gen_tokens;
  return json;
}

ProfileRun::ProfileRun(gpu::WasmDevice& device, std::unique_ptr<engine::Model> model,
                       const BenchRequest& request)
    : device_(device),
      model_(std::move(model)),
      prompt_tokens_(request.options.prompt_tokens),
      depth_(request.options.depths.back()) {
  profile_.emplace(device_, *model_, prompt_tokens_, 0);
}

Result<std::unique_ptr<ProfileRun>> ProfileRun::open(gpu::WasmDevice& device, const BenchRequest& request) {
  auto family = engine::true_shape(request.model, request.n_layers);
  if (!family) return forward(family);
  auto model = engine::make_random_model(device, std::move(*family), load_options(device.caps(), request));
  if (!model) return forward(model);
  engine::EngineOptions tuned;
  engine::use_tuning(device.caps(), request.autotune, request.tuning, tuned);
  (*model)->decoder.set_tuning(std::make_shared<const gpu::Tuning>(std::move(tuned.tuning)));
  return std::unique_ptr<ProfileRun>(new ProfileRun(device, std::move(*model), request));
}

Result<bool> ProfileRun::step(bool coarse) {
  if (auto polled = device_.poll(false); !polled) return forward(polled);
  if (!status_) return forward(status_);
  if (timing_ || device_.n_pending() > 0) return false;
  n_samples_ = coarse ? 60 : 15;
  if (profile_->n_samples() >= n_samples_) {
    using Average = engine::PassProfile::Average;
    Json times = bench::profile_json(profile_->times(coarse ? Average::mean : Average::median));
    if (!prefill_.is_null()) {
      decode_ = std::move(times);
      return true;
    }
    prefill_ = std::move(times);
    profile_.emplace(device_, *model_, 1, depth_);
    return false;
  }
  timing_ = true;
  device_.time_later(profile_->next_pass(), [this](Result<std::vector<double>> us) {
    timing_ = false;
    if (us)
      profile_->add(*us);
    else
      status_ = forward(us);
  });
  return false;
}

double ProfileRun::part() const {
  const double of_pass = static_cast<double>(profile_->n_samples()) / static_cast<double>(n_samples_);
  return ((prefill_.is_null() ? 0.0 : 1.0) + of_pass) / 2.0;
}

Json ProfileRun::times() const { return {{"prefill_kernels", prefill_}, {"decode_kernels", decode_}}; }

}  // namespace ztvm::web
