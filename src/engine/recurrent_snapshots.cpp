#include "engine/recurrent_snapshots.hpp"

#include <vector>

namespace ztvm::engine {
namespace {

gpu::Command copy_whole(const gpu::Tensor& from, const gpu::Tensor& to, std::uint64_t n_bytes) {
  return {.kind = gpu::Command::Kind::copy,
          .a = static_cast<std::uint32_t>(from.buffer),
          .b = static_cast<std::uint32_t>(to.buffer),
          .x = 0,
          .y = 0,
          .z = narrow<std::uint32_t>(n_bytes / 4)};
}

}  // namespace

void RecurrentSnapshots::save(Kind kind, std::uint32_t position) {
  const auto slot = static_cast<std::size_t>(kind);
  std::vector<gpu::Command> commands;
  commands.reserve(buffers_.size());
  for (const model::RecurrentBuffers& b : buffers_)
    commands.push_back(copy_whole(b.live, b.saved[slot], b.n_bytes));
  device_.submit(commands);
  saved_[slot] = position;
}

std::uint32_t RecurrentSnapshots::restore(std::uint32_t limit) {
  drop_beyond(limit);
  std::optional<std::size_t> best;
  for (std::size_t slot = 0; slot < saved_.size(); ++slot) {
    if (saved_[slot] && (!best || *saved_[slot] > *saved_[*best])) best = slot;
  }
  if (live_ && *live_ <= limit && (!best || *live_ >= *saved_[*best])) return *live_;
  live_.reset();
  if (!best) return 0;
  std::vector<gpu::Command> commands;
  commands.reserve(buffers_.size());
  for (const model::RecurrentBuffers& b : buffers_) {
    commands.push_back(copy_whole(b.saved[*best], b.live, b.n_bytes));
  }
  device_.submit(commands);
  live_ = saved_[*best];
  return *live_;
}

void RecurrentSnapshots::drop_beyond(std::uint32_t position) {
  for (auto& saved : saved_) {
    if (saved && *saved > position) saved.reset();
  }
}

void RecurrentSnapshots::clear() {
  live_.reset();
  saved_ = {};
}

}  // namespace ztvm::engine
