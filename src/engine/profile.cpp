#include "engine/profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/rows.hpp"
#include "gpu/executor.hpp"

namespace ztvm::engine {
namespace {

constexpr double k_least_ms = 30.0;  // of one measurement, far above the cost of waiting for it

// "layer 12 down" -> "down".
std::string without_layer(const std::string& name) {
  constexpr std::string_view k_layer = "layer ";
  if (!name.starts_with(k_layer)) return name;
  const std::size_t space = name.find(' ', k_layer.size());
  return space == std::string::npos ? name : name.substr(space + 1);
}

// Runs a recording `n` times and waits for the end.
Result<double> time_runs(gpu::Device& device, gpu::Executor& executor, gpu::RecordingId id, std::uint32_t n,
                         gpu::BufferId any, const std::function<double()>& now_ms) {
  const double start = now_ms();
  for (std::uint32_t i = 0; i < n; ++i) executor.run(id, 1);
  if (auto flushed = executor.flush(); !flushed) return forward(flushed);
  if (auto read = gpu::read_now(device, any, 0, 4); !read) return forward(read);
  return now_ms() - start;
}

}  // namespace

Result<std::vector<KernelTime>> profile_decode(gpu::Device& device, const Model& model, std::uint32_t depth,
                                               const std::function<double()>& now_ms) {
  const model::Weights weights(model.weights, model.buffers);
  const model::State state = model.decoder.state(model.buffers);
  const std::uint32_t token = 1;
  write_rows(device, state, {.position = depth}, std::span(&token, 1));

  std::map<gpu::BufferId, std::uint64_t> weight_bytes;
  const auto planned = model.buffers.planned();
  for (std::size_t i = 0; i < planned.size(); ++i) {
    weight_bytes[model.buffers.tensor(static_cast<model::Slot>(i), gpu::Dtype::u32).buffer] =
        decode_bytes(planned[i], model.spec);
  }
  std::set<std::pair<std::string, gpu::BufferId>> counted;
  std::vector<std::string> order;
  std::map<std::string, std::pair<KernelTime, gpu::Recording>> kinds;
  const auto sort = [&](gpu::Recording recording) {
    for (gpu::Op& op : recording.ops) {
      const std::string name = without_layer(op.name);
      auto [it, is_new] = kinds.try_emplace(name);
      auto& [time, ops] = it->second;
      if (is_new) {
        order.push_back(name);
        ops = {.target = recording.target, .max_rows = recording.max_rows, .ops = {}};
        time.name = name;
      }
      ++time.n_ops;
      // The embedding's op reads one row of what may be the head, too; ops that share a matrix read it once together.
      for (const gpu::Binding& binding : op.bindings) {
        if (name == "embed" || !counted.emplace(name, binding.tensor.buffer).second) continue;
        time.n_bytes += weight_bytes[binding.tensor.buffer];
      }
      ops.ops.push_back(std::move(op));
    }
  };
  sort(model.decoder.record_body(weights, model.buffers, 1).recording);
  sort(model.decoder.record_head(weights, model.buffers));
  sort(model.decoder.record_argmax(model.buffers));

  const auto executor = gpu::make_gpu_executor(device);
  std::vector<KernelTime> times;
  for (const std::string& name : order) {
    auto& [time, recording] = kinds[name];
    const gpu::RecordingId id = executor->add(std::move(recording));
    std::uint32_t n = 1;
    // Once for the pipelines, then more and more until the wait no longer counts.
    if (auto first = time_runs(device, *executor, id, 1, state.step.buffer, now_ms); !first)
      return forward(first);
    while (true) {
      auto ms = time_runs(device, *executor, id, n, state.step.buffer, now_ms);
      if (!ms) return forward(ms);
      time.ms = *ms / n;
      if (*ms >= k_least_ms || n >= 4096) break;
      n *= 4;
    }
    times.push_back(time);
  }
  return times;
}

}  // namespace ztvm::engine
