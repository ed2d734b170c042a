// The exports for web/bench/worker.ts; how they answer is told in exports.cpp.
#include <nlohmann/json.hpp>

#include "web/instance.hpp"
#include "web/request.hpp"

namespace ztvm::web {
namespace {

std::size_t answer_out_of_order() {
  return answer(Error{.code = ErrorCode::invalid_argument,
                      .text = "A measurement needs a device, and a module that nothing was opened in."});
}

bool is_free(const Instance& self) { return self.device && !self.engine && !self.bench && !self.profile; }

std::string_view to_string(bench::BenchProgress::Phase phase) {
  using Phase = bench::BenchProgress::Phase;
  return phase == Phase::stream ? "stream" : phase == Phase::prefill ? "prefill" : "decode";
}

}  // namespace
}  // namespace ztvm::web

using namespace ztvm;
using namespace ztvm::web;

extern "C" {

// What a request (see parse_bench_request) takes on the device, as ztvm_memory_plan tells it.
[[clang::export_name("ztvm_bench_plan")]] std::size_t ztvm_bench_plan(const char* request,
                                                                      std::size_t n_request) {
  if (!instance().device) return answer_out_of_order();
  const auto parsed = parse_bench_request({request, n_request});
  if (!parsed) return answer(parsed.error());
  const auto plan = plan_bench(instance().device->caps(), *parsed);
  return plan ? answer(memory_plan_json(*plan)) : answer(plan.error());
}

// Makes the model with random weights.
[[clang::export_name("ztvm_bench_open")]] std::size_t ztvm_bench_open(const char* request,
                                                                      std::size_t n_request) {
  Instance& self = instance();
  if (!is_free(self)) return answer_out_of_order();
  auto parsed = parse_bench_request({request, n_request});
  if (!parsed) return answer(parsed.error());
  self.target = gpu::choose_target(self.device->caps());
  auto opened = BenchRun::open(*self.device, std::move(*parsed));
  if (!opened) return answer(opened.error());
  self.bench = std::move(*opened);
  return answer(Json::object());
}

// {"ready"}: the kernels are compiled.
[[clang::export_name("ztvm_bench_ready")]] std::size_t ztvm_bench_ready() {
  if (!instance().bench) return answer_out_of_order();
  const auto ready = instance().bench->ready();
  return ready ? answer(Json{{"ready", *ready}}) : answer(ready.error());
}

// Goes on: {"done", "phase", "depth_index", "run", "part"}, of what this step worked on.
[[clang::export_name("ztvm_bench_step")]] std::size_t ztvm_bench_step() {
  if (!instance().bench) return answer_out_of_order();
  const auto done = instance().bench->step();
  if (!done) return answer(done.error());
  const bench::BenchProgress& progress = instance().bench->progress();
  return answer(Json{{"done", *done},
                     {"phase", to_string(progress.phase)},
                     {"depth_index", progress.depth_index},
                     {"run", progress.run},
                     {"part", progress.part}});
}

// The figures, in the names of `zerotvm bench --json`.
[[clang::export_name("ztvm_bench_figures")]] std::size_t ztvm_bench_figures() {
  if (!instance().bench) return answer_out_of_order();
  const auto figures = instance().bench->figures();
  return figures ? answer(*figures) : answer(figures.error());
}

// Makes the model on a device that was opened with timestamps.
[[clang::export_name("ztvm_profile_open")]] std::size_t ztvm_profile_open(const char* request,
                                                                          std::size_t n_request) {
  Instance& self = instance();
  if (!is_free(self)) return answer_out_of_order();
  const auto parsed = parse_bench_request({request, n_request});
  if (!parsed) return answer(parsed.error());
  auto opened = ProfileRun::open(*self.device, *parsed);
  if (!opened) return answer(opened.error());
  self.profile = std::move(*opened);
  return answer(Json::object());
}

// Goes on: {"done", "part"}, and at the end {"prefill_kernels", "decode_kernels"}.
[[clang::export_name("ztvm_profile_step")]] std::size_t ztvm_profile_step(std::uint32_t coarse) {
  if (!instance().profile) return answer_out_of_order();
  const auto done = instance().profile->step(coarse != 0);
  if (!done) return answer(done.error());
  Json reply = *done ? instance().profile->times() : Json::object();
  reply["done"] = *done;
  reply["part"] = instance().profile->part();
  return answer(reply);
}

}  // extern "C"
