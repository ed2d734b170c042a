#include "gpu/upload_ring_native.hpp"

#include <algorithm>
#include <cstring>

namespace ztvm::gpu {
namespace {

constexpr std::uint64_t k_slot_bytes = 8u << 20;

}  // namespace

void UploadRing::write(WGPUBuffer buffer, std::uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    if (n_used_ == k_slot_bytes) flush();
    Slot& slot = slots_[current_];
    if (slot.memory == nullptr && !open(slot)) return;
    const auto n_bytes = std::min<std::uint64_t>(bytes.size(), k_slot_bytes - n_used_);
    std::memcpy(slot.memory + n_used_, bytes.data(), n_bytes);
    copies_.push_back({.buffer = buffer, .offset = offset, .slot_offset = n_used_, .n_bytes = n_bytes});
    n_used_ += n_bytes;
    offset += n_bytes;
    bytes = bytes.subspan(n_bytes);
  }
}

void UploadRing::forget(WGPUBuffer buffer) {
  std::erase_if(copies_, [=](const Copy& copy) { return copy.buffer == buffer; });
  if (copies_.empty()) n_used_ = 0;  // the device has not had the slot
}

// Makes the slot's memory writable, once the device is done with it.
bool UploadRing::open(Slot& slot) {
  if (!slot.buffer) {
    WGPUBufferDescriptor descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
    descriptor.label = to_wgpu("staging for writes");
    descriptor.size = k_slot_bytes;
    descriptor.usage = WGPUBufferUsage_MapWrite | WGPUBufferUsage_CopySrc;
    descriptor.mappedAtCreation = true;
    slot.buffer = BufferPtr(wgpuDeviceCreateBuffer(device_, &descriptor));
    if (!slot.buffer) return false;
  } else {
    queue_.wait(slot.ticket);
    if (!slot.is_mapped) return false;
  }
  slot.memory = static_cast<std::byte*>(wgpuBufferGetMappedRange(slot.buffer.get(), 0, k_slot_bytes));
  return slot.memory != nullptr;
}

void UploadRing::flush() {
  if (copies_.empty()) return;
  Slot& slot = slots_[current_];
  slot.memory = nullptr;
  wgpuBufferUnmap(slot.buffer.get());
  const EncoderPtr encoder(wgpuDeviceCreateCommandEncoder(device_, nullptr));
  for (const Copy& copy : copies_) {
    wgpuCommandEncoderCopyBufferToBuffer(encoder.get(), slot.buffer.get(), copy.slot_offset, copy.buffer,
                                         copy.offset, copy.n_bytes);
  }
  const CommandsPtr commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  queue_.submit(commands.get());

  slot.is_mapped = false;
  WGPUBufferMapCallbackInfo info = WGPU_BUFFER_MAP_CALLBACK_INFO_INIT;
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = &slot;
  info.callback = [](WGPUMapAsyncStatus status, WGPUStringView, void* userdata, void*) {
    static_cast<Slot*>(userdata)->is_mapped = status == WGPUMapAsyncStatus_Success;
  };
  slot.ticket = queue_.map(slot.buffer.get(), WGPUMapMode_Write, k_slot_bytes, info);
  copies_.clear();
  n_used_ = 0;
  current_ = (current_ + 1) % slots_.size();
}

void UploadRing::release() {
  flush();
  for (Slot& slot : slots_) {
    slot.memory = nullptr;
    slot.buffer.reset();
  }
}

}  // namespace ztvm::gpu
