// The exports for web/probe.ts, which looks inside a model; how they answer is told in exports.cpp.
#include <nlohmann/json.hpp>

#include "web/instance.hpp"
#include "web/request.hpp"

namespace ztvm::web {
namespace {

// What one step of a probe gave; its values stay where they are until the next step.
struct Probed {
  std::optional<std::size_t> layer;  // none: logits
  std::vector<std::byte> values;
};
Probed& probed() {
  static Probed the_probed;
  return the_probed;
}

Result<void> keep(std::optional<std::size_t> layer, Bytes values) {
  probed() = {.layer = layer, .values = {values.begin(), values.end()}};
  return {};
}

}  // namespace
}  // namespace ztvm::web

using namespace ztvm;
using namespace ztvm::web;

extern "C" {

// Takes a request (see parse_probe_request) for the model that is open.
[[clang::export_name("ztvm_probe_begin")]] std::size_t ztvm_probe_begin(const char* text,
                                                                        std::size_t n_text) {
  if (!instance().engine) return answer_no_engine();
  const auto request = parse_probe_request({text, n_text});
  if (!request) return answer(request.error());
  engine::ProbeSinks sinks = {
      .hidden = {}, .logits = [](std::span<const float> logits) { return keep({}, as_bytes(logits)); }};
  if (request->hidden) sinks.hidden = [](std::size_t layer, Bytes rows) { return keep(layer, rows); };
  return answer(instance().engine->begin_probe(request->ids, std::move(sinks)));
}

// {"done"}, and where this step gave values {"at", "n_bytes"} of f32 in the module's memory, with {"layer"} rows of hidden
// states after it (0: the embedding), without it logits, which come last.
[[clang::export_name("ztvm_probe_step")]] std::size_t ztvm_probe_step() {
  if (!instance().engine) return answer_no_engine();
  probed() = {};
  const auto done = instance().engine->step_probe(false);
  if (!done) return answer(done.error());
  Json reply{{"done", *done}};
  const Probed& given = probed();
  if (!given.values.empty()) {
    reply["at"] = reinterpret_cast<std::uintptr_t>(given.values.data());
    reply["n_bytes"] = given.values.size();
    if (given.layer) reply["layer"] = *given.layer;
  }
  return answer(reply);
}

}  // extern "C"
