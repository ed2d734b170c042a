// The module's surface for web/engine.ts. A call that can fail answers with JSON: it returns the reply's
// length in bytes and ztvm_reply() gives its address, until the next call. A failure is {"error": {"code",
// "text"}}. Strings come in as address and length; file offsets and lengths as f64, exact up to 2^53.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "gpu/wasm_imports.hpp"
#include "web/instance.hpp"
#include "web/request.hpp"

namespace ztvm::web {
namespace {

// File lengths come in as f64, which is exact up to 2^53.
bool is_length(double n_bytes) { return n_bytes >= 0.0 && n_bytes <= 0x1p53; }

std::size_t answer_bad_length() {
  return answer(
      Error{.code = ErrorCode::invalid_argument, .text = "The model file's length is no valid number."});
}

Json timings_json(const engine::Timings& timings) {
  return {{"load_ms", timings.load_ms},
          {"prefill_ms", timings.prefill_ms},
          {"decode_ms", timings.decode_ms},
          {"n_prompt_tokens", timings.n_prompt_tokens},
          {"n_reused_tokens", timings.n_reused_tokens},
          {"n_output_tokens", timings.n_output_tokens}};
}

void add_mismatch(Json& reply, const std::optional<gpu::Mismatch>& mismatch) {
  if (mismatch) reply["mismatch"] = gpu::describe(*mismatch);
}

Result<void> begin(engine::Engine& engine, const GenerateRequest& request) {
  if (const auto* messages = std::get_if<std::vector<engine::Message>>(&request.prompt)) {
    return engine.begin_chat(*messages, request.options);
  }
  if (const auto* ids = std::get_if<std::vector<std::uint32_t>>(&request.prompt)) {
    return engine.begin_ids(*ids, request.options);
  }
  return engine.begin_text(std::get<std::string>(request.prompt), request.options);
}

}  // namespace
}  // namespace ztvm::web

using namespace ztvm;
using namespace ztvm::web;

extern "C" {

[[clang::export_name("ztvm_alloc")]] void* ztvm_alloc(std::size_t n_bytes) { return std::malloc(n_bytes); }
[[clang::export_name("ztvm_free")]] void ztvm_free(void* address) { std::free(address); }
[[clang::export_name("ztvm_reply")]] const char* ztvm_reply() { return instance().reply.data(); }

// Takes what the adapter offers (see parse_caps) and makes the device. Comes first, and once.
[[clang::export_name("ztvm_init")]] std::size_t ztvm_init(const char* caps, std::size_t n_caps) {
  auto parsed = parse_caps({caps, n_caps});
  if (!parsed) return answer(parsed.error());
  instance().device = std::make_unique<gpu::WasmDevice>(std::move(*parsed));
  return answer(Result<void>());
}

// A .gguf of `n_file_bytes`, or with `is_folder` a folder of files that are asked for by name.
[[clang::export_name("ztvm_open")]] std::size_t ztvm_open(const char* name, std::size_t n_name,
                                                          std::uint32_t is_folder, double n_file_bytes,
                                                          const char* options, std::size_t n_options) {
  Instance& self = instance();
  if (!self.device) {
    return answer(
        Error{.code = ErrorCode::invalid_argument, .text = "No device is known; ztvm_init comes first."});
  }
  if (self.engine) {
    return answer(
        Error{.code = ErrorCode::invalid_argument, .text = "This module has a model open already."});
  }
  if (!is_length(n_file_bytes)) return answer_bad_length();
  auto parsed = parse_engine_options(self.device->caps(), {options, n_options});
  if (!parsed) return answer(parsed.error());
  parsed->now_ms = [] { return ztvm_now_ms(); };
  self.target = *parsed->target;
  parsed->report = &self.lockstep;
  auto opened = engine::Engine::open(*self.device,
                                     {.name = std::string(name, n_name),
                                      .is_folder = is_folder != 0,
                                      .n_file_bytes = static_cast<std::uint64_t>(n_file_bytes)},
                                     *parsed);
  if (!opened) return answer(opened.error());
  self.engine = std::move(*opened);
  return answer(Result<void>());
}

// {"file", "offset", "n_bytes", "whole", "optional"} (see load::WantedRange), or {} once everything was read.
[[clang::export_name("ztvm_wanted")]] std::size_t ztvm_wanted() {
  if (!instance().engine) return answer_no_engine();
  const auto range = instance().engine->wanted();
  if (!range) return answer(Json::object());
  return answer(Json{{"file", range->file},
                     {"offset", range->offset},
                     {"n_bytes", range->n_bytes},
                     {"whole", range->whole},
                     {"optional", range->optional}});
}

// The bytes of ztvm_wanted(), and the length of the file they are from.
[[clang::export_name("ztvm_supply")]] std::size_t ztvm_supply(const std::byte* bytes, std::size_t n_bytes,
                                                              double n_file_bytes) {
  if (!instance().engine) return answer_no_engine();
  if (!is_length(n_file_bytes)) return answer_bad_length();
  return answer(instance().engine->supply({bytes, n_bytes}, static_cast<std::uint64_t>(n_file_bytes)));
}

// The wanted file does not exist.
[[clang::export_name("ztvm_supply_missing")]] std::size_t ztvm_supply_missing() {
  if (!instance().engine) return answer_no_engine();
  return answer(instance().engine->supply_missing());
}

// What the model takes on the device, in bytes, and the context in tokens; {} until the headers were read.
[[clang::export_name("ztvm_memory_plan")]] std::size_t ztvm_memory_plan() {
  if (!instance().engine) return answer_no_engine();
  const auto plan = instance().engine->memory_plan();
  if (!plan) return answer(Json::object());
  return answer(memory_plan_json(*plan));
}

// {"ready", "context", "dispatches_per_token"}.
[[clang::export_name("ztvm_ready")]] std::size_t ztvm_ready() {
  if (!instance().engine) return answer_no_engine();
  engine::Engine& engine = *instance().engine;
  const auto ready = engine.ready(false);
  if (!ready) return answer(ready.error());
  if (!*ready) return answer(Json{{"ready", false}});
  return answer(Json{{"ready", true},
                     {"context", engine.context()},
                     {"dispatches_per_token", engine.dispatches_per_token()}});
}

// {"text"}: the forms that were measured so far, to be kept and given to the next ztvm_open or ztvm_bench_open; {} where
// nothing was.
[[clang::export_name("ztvm_tuning")]] std::size_t ztvm_tuning() {
  const Instance& self = instance();
  const engine::Engine* engine = self.engine  ? self.engine.get()
                                 : self.bench ? &self.bench->engine()
                                              : nullptr;
  if (engine == nullptr) return answer_no_engine();
  if (engine->tuning().empty()) return answer(Json::object());
  const engine::TuningKey key = engine::tuning_key(self.device->caps(), self.target);
  return answer(Json{{"text", engine::write_tuning(key, engine->tuning())}});
}

// Takes a request (see parse_generate_request); replies {"prompt_ids"}.
[[clang::export_name("ztvm_begin")]] std::size_t ztvm_begin(const char* request, std::size_t n_request) {
  if (!instance().engine) return answer_no_engine();
  const auto parsed = parse_generate_request({request, n_request});
  if (!parsed) return answer(parsed.error());
  if (auto begun = begin(*instance().engine, *parsed); !begun) return answer(begun.error());
  const auto ids = instance().engine->prompt_ids();
  return answer(Json{{"prompt_ids", std::vector<std::uint32_t>(ids.begin(), ids.end())}});
}

// {"text", "ids", "finish"}, and with a finish other than "none" also {"timings"}.
[[clang::export_name("ztvm_step")]] std::size_t ztvm_step() {
  if (!instance().engine) return answer_no_engine();
  const auto event = instance().engine->step(false);
  if (!event) return answer(event.error());
  Json reply{{"text", event->text}, {"ids", event->ids}, {"finish", to_string(event->finish)}};
  if (event->finish != engine::FinishReason::none)
    reply["timings"] = timings_json(instance().engine->timings());
  return answer(reply);
}

[[clang::export_name("ztvm_interrupt")]] void ztvm_interrupt() {
  if (instance().engine) instance().engine->interrupt();
}

// {"set", "why"}: the kernels that are chosen for the adapter.
[[clang::export_name("ztvm_kernel_set")]] std::size_t ztvm_kernel_set() {
  if (!instance().device) {
    return answer(
        Error{.code = ErrorCode::invalid_argument, .text = "No device is known; ztvm_init comes first."});
  }
  const gpu::Caps& caps = instance().device->caps();
  return answer(Json{{"set", gpu::describe(gpu::choose_target(caps))}, {"why", gpu::explain_target(caps)}});
}

// Starts the kernels' cases, the quick ones or all: {"n_cases"}. No model is open meanwhile.
[[clang::export_name("ztvm_selftest_begin")]] std::size_t ztvm_selftest_begin(std::uint32_t quick_only) {
  Instance& self = instance();
  if (!self.device || self.engine) {
    return answer(Error{.code = ErrorCode::invalid_argument,
                        .text = "The self-test needs a device, and a module without a model."});
  }
  self.self_test = std::make_unique<kernels::SelfTest>(*self.device, gpu::choose_target(self.device->caps()),
                                                       quick_only != 0);
  return answer(Json{{"n_cases", self.self_test->n_cases()}});
}

// {"done"}, and when a case is over {"kernel", "name", "n_ops", "mismatch"? or "error"?}.
[[clang::export_name("ztvm_selftest_step")]] std::size_t ztvm_selftest_step() {
  if (!instance().self_test) {
    return answer(Error{.code = ErrorCode::invalid_argument, .text = "No self-test was begun."});
  }
  kernels::SelfTest& test = *instance().self_test;
  const auto finished = test.step();
  Json reply{{"done", test.done()}};
  if (finished) {
    reply["kernel"] = finished->kernel_case->kernel;
    reply["name"] = finished->kernel_case->name;
    reply["n_ops"] = finished->outcome ? finished->outcome->n_ops : 0;
    if (finished->outcome)
      add_mismatch(reply, finished->outcome->mismatch);
    else
      reply["error"] = finished->outcome.error().text;
  }
  return answer(reply);
}

// What a model opened with "lockstep" compared: {"n_ops", "n_different", "n_recorded", "mismatch"?}.
[[clang::export_name("ztvm_lockstep")]] std::size_t ztvm_lockstep() {
  const gpu::LockstepReport& report = instance().lockstep;
  Json reply{{"n_ops", report.n_ops}, {"n_different", report.n_different}, {"n_recorded", report.n_recorded}};
  add_mismatch(reply, report.first_mismatch);
  return answer(reply);
}

// Completions of the imports in gpu/wasm_imports.hpp.
[[clang::export_name("ztvm_gpu_read_done")]] void ztvm_gpu_read_done(std::uint32_t token, std::uint32_t ok) {
  if (instance().device) instance().device->on_read_done(token, ok != 0);
}
[[clang::export_name("ztvm_gpu_pipeline_done")]] void ztvm_gpu_pipeline_done() {
  if (instance().device) instance().device->on_pipeline_done();
}
// `code` is an ErrorCode: 5 out_of_memory, 6 device, 7 device_lost.
[[clang::export_name("ztvm_gpu_error")]] void ztvm_gpu_error(std::uint32_t code, const char* text,
                                                             std::size_t n_text) {
  if (instance().device) {
    instance().device->on_error({.code = static_cast<ErrorCode>(code), .text = std::string(text, n_text)});
  }
}

}  // extern "C"
