#include "gpu/plan.hpp"

namespace ztvm::gpu {
namespace {

std::vector<Access> access_list(const Op& op) {
  std::vector<Access> access;
  for (const Binding& binding : op.bindings) access.push_back(binding.access);
  return access;
}

}  // namespace

PipelineCache::~PipelineCache() {
  for (const auto& [text, id] : pipelines_) device_.destroy(id);
}

PipelineId PipelineCache::get(const Op& op, const Target& target) {
  const std::string wgsl = link(op.program, target, device_.caps().compiler);
  const std::vector<Access> access = access_list(op);
  std::string key = wgsl;
  for (const Access a : access) key += a == Access::read ? 'r' : 'w';
  const auto it = pipelines_.find(key);
  if (it != pipelines_.end()) return it->second;
  const PipelineId id = device_.create_pipeline({.label = op.program.body, .wgsl = wgsl, .access = access});
  pipelines_.emplace(std::move(key), id);
  return id;
}

Plan::Plan(Device& device, PipelineCache& cache, const Recording& recording) : device_(device) {
  entries_.reserve(recording.ops.size());
  std::vector<BufferId> buffers;
  for (const Op& op : recording.ops) {
    const PipelineId pipeline = cache.get(op, recording.target);
    buffers.clear();
    for (const Binding& binding : op.bindings) buffers.push_back(binding.tensor.buffer);
    const BindingsId bindings = device.create_bindings(pipeline, buffers);
    entries_.push_back({.command = {.kind = Command::Kind::dispatch,
                                    .a = static_cast<std::uint32_t>(pipeline),
                                    .b = static_cast<std::uint32_t>(bindings),
                                    .x = op.grid.x,
                                    .y = op.grid.y,
                                    .z = op.grid.z},
                        .rows_axis = op.grid.rows_axis,
                        .rows_per_workgroup = op.grid.rows_per_workgroup});
  }
}

Plan::~Plan() {
  for (const Entry& entry : entries_) device_.destroy(static_cast<BindingsId>(entry.command.b));
}

void Plan::append(std::vector<Command>& commands, std::uint32_t n_rows, std::size_t first,
                  std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    const Entry& entry = entries_[i];
    Command command = entry.command;
    const std::uint32_t n_workgroups = div_up(n_rows, entry.rows_per_workgroup);
    switch (entry.rows_axis) {
      case Grid::Axis::none: break;
      case Grid::Axis::x: command.x = n_workgroups; break;
      case Grid::Axis::y: command.y = n_workgroups; break;
      case Grid::Axis::z: command.z = n_workgroups; break;
    }
    commands.push_back(command);
  }
}

}  // namespace ztvm::gpu
