// Which library opens devices, one at a time, and what it tells.
#include <gtest/gtest.h>

#include <link.h>

#include <set>
#include <string>

#include "gpu/webgpu_device.hpp"
#include "support/test_adapter.hpp"

namespace ztvm::gpu {
namespace {

WebGpuLibrary library_of(const Device& device) {
  return device.caps().compiler == ShaderCompiler::tint ? WebGpuLibrary::dawn : WebGpuLibrary::wgpu_native;
}

std::set<std::string> loaded_libraries() {
  std::set<std::string> names;
  const auto add = [](dl_phdr_info* library, std::size_t, void* all) {
    static_cast<std::set<std::string>*>(all)->insert(library->dlpi_name);
    return 0;
  };
  ::dl_iterate_phdr(add, &names);
  return names;
}

// A driver may be one that cannot be loaded again and again: vulkan_driver_native.hpp.
TEST(WebGpuLibrary, TheDriverStaysLoadedWhenADeviceIsClosed) {
  auto device = open_webgpu_device(test_adapter());
  ASSERT_TRUE(device) << device.error().text;
  const std::set<std::string> open = loaded_libraries();
  device->reset();
  const std::set<std::string> closed = loaded_libraries();
  for (const std::string& name : open) EXPECT_TRUE(closed.contains(name)) << name << " was unloaded";
}

TEST(WebGpuLibrary, WhileADeviceLivesAnotherLibraryIsRefused) {
  auto device = open_webgpu_device(test_adapter());
  ASSERT_TRUE(device) << device.error().text;
  const WebGpuLibrary used = library_of(**device);
  const WebGpuLibrary other = used == WebGpuLibrary::dawn ? WebGpuLibrary::wgpu_native : WebGpuLibrary::dawn;
  const auto refused = open_webgpu_device({.library = other});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().text.find("wgpu-native"), std::string::npos) << refused.error().text;
  EXPECT_NE(refused.error().text.find("Dawn"), std::string::npos) << refused.error().text;
  EXPECT_TRUE(list_webgpu_adapters(other).empty());
}

TEST(WebGpuLibrary, WhileADeviceLivesAnyMeansItsLibrary) {
  auto device = open_webgpu_device(test_adapter());
  ASSERT_TRUE(device) << device.error().text;
  auto second = open_webgpu_device({.adapter = (*device)->caps().adapter});
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_EQ(library_of(**second), library_of(**device));
}

TEST(WebGpuLibrary, ABufferThatDoesNotFitIsRefusedAtOnce) {
  auto device = open_webgpu_device(test_adapter());
  ASSERT_TRUE(device) << device.error().text;
  const auto refused = (*device)->create_buffer(1ull << 50, "too large");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_NE(refused.error().text.find("too large"), std::string::npos) << refused.error().text;
  EXPECT_TRUE((*device)->create_buffer(64, "small"));
  EXPECT_TRUE((*device)->poll(true));
}

TEST(WebGpuLibrary, AShaderThatDoesNotCompileIsToldInTheCompilersWords) {
  auto device = open_webgpu_device(test_adapter());
  ASSERT_TRUE(device) << device.error().text;
  (*device)->create_pipeline({.label = "wrong",
                              .wgsl = "@compute @workgroup_size(1) fn main() { no_such_function(); }",
                              .access = {}});
  Result<void> told;
  while (told && (*device)->n_pending() > 0) told = (*device)->poll(true);
  ASSERT_FALSE(told);
  EXPECT_NE(told.error().text.find("no_such_function"), std::string::npos) << told.error().text;
}

}  // namespace
}  // namespace ztvm::gpu
