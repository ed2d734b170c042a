// Writes of all sizes arrive, and in order, whatever way each of them takes to the device.
#include <gtest/gtest.h>

#include <cstring>

#include "test_device.hpp"

namespace ztvm::kernels {
namespace {

TEST(DeviceWrites, ArriveInOrder) {
  gpu::Device* device = test_device();
  if (device == nullptr) GTEST_SKIP() << "no adapter";
  constexpr std::uint64_t k_bytes = 20u << 20;  // more than the staging memory for a while
  const gpu::Buffer buffer = gpu::make_buffer(*device, k_bytes, "writes").value();
  std::vector<std::byte> expected(k_bytes);
  const auto write = [&](std::uint64_t offset, std::uint64_t n_bytes, std::uint8_t value) {
    const std::vector<std::byte> bytes(n_bytes, std::byte{value});
    device->write(buffer.id(), offset, bytes);
    std::memcpy(expected.data() + offset, bytes.data(), n_bytes);
  };
  for (std::uint8_t round = 0; round < 3; ++round) {
    write(4, 8, static_cast<std::uint8_t>(10 * round + 1));
    write(0, k_bytes, static_cast<std::uint8_t>(10 * round + 2));
    write(k_bytes - 12, 12, static_cast<std::uint8_t>(10 * round + 3));
    write(64, 300u << 10, static_cast<std::uint8_t>(10 * round + 4));
    write(128, 4, static_cast<std::uint8_t>(10 * round + 5));
    const auto read = gpu::read_now(*device, buffer.id(), 0, k_bytes);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_TRUE(*read == expected) << "round " << int{round};
  }
}

// More than a slot of the staging memory, so that it must not count as full of nothing.
TEST(DeviceWrites, OfADestroyedBufferAreDropped) {
  gpu::Device* device = test_device();
  if (device == nullptr) GTEST_SKIP() << "no adapter";
  constexpr std::uint64_t k_bytes = 1u << 20;
  const std::vector<std::byte> bytes(k_bytes, std::byte{7});
  const gpu::Buffer kept = gpu::make_buffer(*device, k_bytes, "kept").value();
  for (int i = 0; i < 9; ++i) {
    const gpu::Buffer dropped = gpu::make_buffer(*device, k_bytes, "dropped").value();
    device->write(dropped.id(), 0, bytes);
  }
  {
    const gpu::Buffer dropped = gpu::make_buffer(*device, k_bytes, "dropped").value();
    device->write(dropped.id(), 0, bytes);
    device->write(kept.id(), 0, bytes);
    device->write(dropped.id(), 0, bytes);
  }
  const auto read = gpu::read_now(*device, kept.id(), 0, k_bytes);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_TRUE(*read == bytes);
}

}  // namespace
}  // namespace ztvm::kernels
