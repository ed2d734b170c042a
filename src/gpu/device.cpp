#include "gpu/device.hpp"

#include <fmt/format.h>

namespace ztvm::gpu {

Result<Buffer> make_buffer(Device& device, std::uint64_t n_bytes, std::string_view label) {
  const Caps& caps = device.caps();
  const std::uint64_t limit = std::min(caps.max_buffer_bytes, caps.max_binding_bytes);
  if (n_bytes > limit) {
    return fail(ErrorCode::out_of_memory,
                fmt::format("Buffer \"{}\" needs {}, but adapter \"{}\" binds at most {}.", label,
                            format_bytes(n_bytes), caps.adapter, format_bytes(limit)));
  }
  auto id = device.create_buffer(n_bytes, label);
  if (!id) return forward(id);
  return Buffer(device, *id, n_bytes);
}

Result<std::vector<std::byte>> read_now(Device& device, BufferId buffer, std::uint64_t offset,
                                        std::uint64_t n_bytes) {
  bool done = false;
  Result<void> polled;  // a failure of what ran before spoils the bytes, though they arrive
  Result<std::vector<std::byte>> result;
  device.read(buffer, offset, n_bytes, [&](Result<Bytes> bytes) {
    done = true;
    if (bytes) {
      result->assign(bytes->begin(), bytes->end());
    } else {
      result = forward(bytes);
    }
  });
  // An error of poll() never drops a callback, so the references above stay valid until `done`.
  while (!done) {
    if (auto now = device.poll(true); !now && polled) polled = std::move(now);
  }
  if (!polled) return forward(polled);
  return result;
}

}  // namespace ztvm::gpu
