#include "web/instance.hpp"

#include <nlohmann/json.hpp>

namespace ztvm::web {

Instance& instance() {
  static Instance the_instance;
  return the_instance;
}

std::size_t answer(const Json& reply) {
  instance().reply = dump_json(reply);
  return instance().reply.size();
}

std::size_t answer(const Error& error) {
  return answer(Json{{"error", {{"code", to_string(error.code)}, {"text", error.text}}}});
}

std::size_t answer(const Result<void>& result) {
  return result ? answer(Json::object()) : answer(result.error());
}

std::size_t answer_no_engine() {
  return answer(
      Error{.code = ErrorCode::invalid_argument, .text = "No model is open; ztvm_open comes first."});
}

Json memory_plan_json(const engine::MemoryPlan& plan) {
  return {{"weights_bytes", plan.weights_bytes},
          {"kv_cache_bytes", plan.kv_cache_bytes},
          {"state_bytes", plan.state_bytes},
          {"scratch_bytes", plan.scratch_bytes},
          {"total_bytes", plan.total_bytes()},
          {"largest_buffer_bytes", plan.largest_buffer_bytes},
          {"context", plan.context},
          {"max_context", plan.max_context},
          {"read_bytes", plan.read_bytes}};
}

}  // namespace ztvm::web
