#pragma once
// What the module's exports share: the state of this wasm instance, and how they answer.
#include <memory>
#include <string>

#include "base/json.hpp"
#include "engine/engine.hpp"
#include "gpu/wasm_device.hpp"
#include "kernels/selftest.hpp"
#include "web/bench.hpp"

namespace ztvm::web {

// A wasm instance is one engine on one device; in order of ownership.
struct Instance {
  std::unique_ptr<gpu::WasmDevice> device;
  std::unique_ptr<kernels::SelfTest> self_test;
  gpu::LockstepReport lockstep;
  gpu::Target target;  // of the engine
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<BenchRun> bench;
  std::unique_ptr<ProfileRun> profile;
  std::string reply;
};
Instance& instance();

// Keeps the reply for ztvm_reply() and returns its length in bytes.
std::size_t answer(const Json& reply);
std::size_t answer(const Error& error);
std::size_t answer(const Result<void>& result);
std::size_t answer_no_engine();

Json memory_plan_json(const engine::MemoryPlan& plan);

}  // namespace ztvm::web
