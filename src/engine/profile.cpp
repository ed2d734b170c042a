#include "engine/profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/rows.hpp"
#include "gpu/plan.hpp"

namespace ztvm::engine {
namespace {

// "layer 12 down" -> "down".
std::string without_layer(const std::string& name) {
  constexpr std::string_view k_layer = "layer ";
  if (!name.starts_with(k_layer)) return name;
  const std::size_t space = name.find(' ', k_layer.size());
  return space == std::string::npos ? name : name.substr(space + 1);
}

// The ops of a pass, in order; of a decoded token the head and its choice, too.
gpu::Recording record_pass(const Model& model, const model::Weights& weights, std::uint32_t n_rows) {
  gpu::Recording token = model.decoder.record_body(weights, model.buffers, n_rows).recording;
  if (n_rows > 1) return token;
  for (gpu::Recording rest :
       {model.decoder.record_head(weights, model.buffers), model.decoder.record_argmax(model.buffers)}) {
    std::ranges::move(rest.ops, std::back_inserter(token.ops));
  }
  return token;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Median microseconds of each op over some passes at one position.
Result<std::vector<double>> time_pass(gpu::Device& device, const Model& model,
                                      const gpu::Recording& recording, std::uint32_t depth) {
  constexpr int k_warm_up = 5;
  constexpr int k_passes = 15;
  const std::uint32_t n_rows = recording.max_rows;
  gpu::PipelineCache pipelines(device);
  const gpu::Plan plan(device, pipelines, recording);
  std::vector<gpu::Command> commands;
  plan.append(commands, n_rows, 0, plan.n_ops());
  std::vector<std::vector<double>> samples(recording.ops.size());
  const model::State state = model.decoder.state(model.buffers);
  const std::vector<std::uint32_t> tokens(n_rows, 1);
  for (int i = 0; i < k_warm_up + k_passes; ++i) {
    write_rows(device, state, {.position = depth}, tokens);
    auto us = device.time(commands);
    if (!us) return forward(us);
    for (std::size_t op = 0; op < us->size() && i >= k_warm_up; ++op) samples[op].push_back((*us)[op]);
  }
  std::vector<double> medians;
  for (std::vector<double>& values : samples) medians.push_back(median(std::move(values)));
  return medians;
}

}  // namespace

Result<std::vector<KernelTime>> profile_pass(gpu::Device& device, const Model& model, std::uint32_t n_rows,
                                             std::uint32_t depth) {
  n_rows = std::min(n_rows, model.decoder.options().max_rows);
  depth = std::min(depth, model.context - n_rows);
  const model::Weights weights(model.weights, model.buffers);
  const gpu::Recording recording = record_pass(model, weights, n_rows);
  auto us = time_pass(device, model, recording, depth);
  if (!us) return forward(us);

  std::map<gpu::BufferId, std::uint64_t> weight_bytes;
  const auto planned = model.buffers.planned();
  for (std::size_t i = 0; i < planned.size(); ++i) {
    weight_bytes[model.buffers.tensor(static_cast<model::Slot>(i), gpu::Dtype::u32).buffer] =
        decode_bytes(planned[i], model.spec);
  }
  std::vector<KernelTime> times;
  std::set<std::pair<std::string, gpu::BufferId>> counted;
  for (std::size_t i = 0; i < recording.ops.size(); ++i) {
    const gpu::Op& op = recording.ops[i];
    const std::string name = without_layer(op.name);
    auto time = std::ranges::find(times, name, &KernelTime::name);
    if (time == times.end())
      time = times.insert(times.end(), {.name = name, .n_ops = 0, .ms = 0, .n_bytes = 0});
    ++time->n_ops;
    time->ms += (*us)[i] / 1000.0;
    // The embedding's op reads one row of what may be the head, too; ops that share a matrix read it once together.
    for (const gpu::Binding& binding : op.bindings) {
      if (name == "embed" || !counted.emplace(name, binding.tensor.buffer).second) continue;
      time->n_bytes += weight_bytes[binding.tensor.buffer];
    }
  }
  return times;
}

}  // namespace ztvm::engine
