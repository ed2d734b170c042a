#include "engine/profile.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "engine/rows.hpp"

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
       {model.decoder.record_head(weights, model.buffers), model.decoder.record_argmax(model.buffers),
        model.decoder.record_advance(model.buffers)}) {
    std::ranges::move(rest.ops, std::back_inserter(token.ops));
  }
  return token;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double average(std::vector<double> values, PassProfile::Average kind) {
  if (kind == PassProfile::Average::median) return median(std::move(values));
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

PassProfile::PassProfile(gpu::Device& device, const Model& model, std::uint32_t n_rows, std::uint32_t depth)
    : device_(device),
      model_(model),
      n_rows_(std::min(n_rows, model.decoder.options().max_rows)),
      depth_(std::min(depth, model.context - n_rows_)),
      recording_(record_pass(model, model::Weights(model.weights, model.buffers), n_rows_)),
      pipelines_(device),
      plan_(device, pipelines_, recording_),
      samples_(recording_.ops.size()) {
  plan_.append(commands_, {n_rows_, depth_ + n_rows_}, 0, plan_.n_ops());
}

std::span<const gpu::Command> PassProfile::next_pass() {
  const std::vector<std::uint32_t> tokens(n_rows_, 1);
  write_rows(device_, model_.decoder.state(model_.buffers), {.position = depth_}, tokens);
  return commands_;
}

void PassProfile::add(std::span<const double> us) {
  constexpr std::uint32_t k_warm_up = 5;
  check(us.size() == samples_.size(), "a time for each op");
  if (++n_added_ <= k_warm_up) return;
  for (std::size_t op = 0; op < us.size(); ++op) samples_[op].push_back(us[op]);
}

std::vector<KernelTime> PassProfile::times(Average kind) const {
  std::map<gpu::BufferId, std::uint64_t> weight_bytes;
  const auto planned = model_.buffers.planned();
  for (std::size_t i = 0; i < planned.size(); ++i) {
    weight_bytes[model_.buffers.tensor(static_cast<model::Slot>(i), gpu::Dtype::u32).buffer] =
        decode_bytes(planned[i], model_.spec);
  }
  std::vector<KernelTime> times;
  std::set<std::pair<std::string, gpu::BufferId>> counted;
  for (std::size_t i = 0; i < recording_.ops.size(); ++i) {
    const gpu::Op& op = recording_.ops[i];
    const std::string name = without_layer(op.name);
    auto time = std::ranges::find(times, name, &KernelTime::name);
    if (time == times.end())
      time = times.insert(times.end(), {.name = name, .n_ops = 0, .ms = 0, .n_bytes = 0});
    ++time->n_ops;
    time->ms += average(samples_[i], kind) / 1000.0;
    // The embedding's op reads one row of what may be the head, too; ops that share a matrix read it once together.
    for (const gpu::Binding& binding : op.bindings) {
      if (name == "embed" || !counted.emplace(name, binding.tensor.buffer).second) continue;
      time->n_bytes += weight_bytes[binding.tensor.buffer];
    }
  }
  return times;
}

Result<PassTimes> profile_pass(gpu::Device& device, const Model& model, std::uint32_t n_rows,
                               std::uint32_t depth) {
  constexpr std::size_t k_passes = 15;
  PassProfile profile(device, model, n_rows, depth);
  while (profile.n_samples() < k_passes) {
    auto us = device.time(profile.next_pass(), gpu::Timed::each);
    if (!us) return forward(us);
    profile.add(*us);
  }
  std::vector<double> whole_us;
  while (whole_us.size() < k_passes) {
    auto us = device.time(profile.next_pass(), gpu::Timed::whole);
    if (!us) return forward(us);
    check(us->size() == 1, "one time for all");
    whole_us.push_back(us->front());
  }
  return PassTimes{.kernels = profile.times(PassProfile::Average::median),
                   .whole_ms = median(std::move(whole_us)) / 1000.0};
}

}  // namespace ztvm::engine
