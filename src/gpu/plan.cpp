#include "gpu/plan.hpp"

#include <algorithm>

namespace ztvm::gpu {
namespace {

std::vector<Access> access_list(const Op& op) {
  std::vector<Access> access;
  for (const Binding& binding : op.bindings) access.push_back(binding.access);
  return access;
}

// None: no axis is named.
std::uint32_t* axis_of(Command& command, Grid::Axis axis) {
  switch (axis) {
    case Grid::Axis::none: return nullptr;
    case Grid::Axis::x: return &command.x;
    case Grid::Axis::y: return &command.y;
    case Grid::Axis::z: return &command.z;
  }
  return nullptr;
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
                        .grid = op.grid});
  }
}

Plan::~Plan() {
  for (const Entry& entry : entries_) device_.destroy(static_cast<BindingsId>(entry.command.b));
}

void Plan::append(std::vector<Command>& commands, Extent extent, std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    const Grid& grid = entries_[i].grid;
    Command command = entries_[i].command;
    if (std::uint32_t* size = axis_of(command, grid.rows_axis)) {
      *size = div_up(extent.n_rows, grid.rows_per_workgroup);
    }
    std::uint32_t* size = axis_of(command, grid.keys_axis);
    if (size != nullptr && extent.n_keys != Extent::k_all_keys) {
      *size = std::min(*size, div_up(extent.n_keys, grid.keys_per_workgroup));
    }
    commands.push_back(command);
  }
}

}  // namespace ztvm::gpu
