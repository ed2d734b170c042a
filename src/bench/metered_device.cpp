#include "bench/metered_device.hpp"

#include <algorithm>
#include <utility>

namespace ztvm::bench {

HostCost MeteredDevice::take_cost() { return std::exchange(cost_, {}); }

void MeteredDevice::write(gpu::BufferId buffer, std::uint64_t offset, Bytes bytes) {
  const double start = now_ms_();
  device_.write(buffer, offset, bytes);
  cost_.ms += now_ms_() - start;
}

void MeteredDevice::submit(std::span<const gpu::Command> commands) {
  const double start = now_ms_();
  device_.submit(commands);
  cost_.ms += now_ms_() - start;
  ++cost_.n_submits;
  cost_.n_dispatches += static_cast<std::uint64_t>(
      std::ranges::count(commands, gpu::Command::Kind::dispatch, &gpu::Command::kind));
}

void MeteredDevice::read(gpu::BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes,
                         gpu::ReadCallback callback) {
  const double start = now_ms_();
  device_.read(buffer, offset, n_bytes, std::move(callback));
  cost_.ms += now_ms_() - start;
  ++cost_.n_reads;
  ++cost_.n_submits;
}

}  // namespace ztvm::bench
