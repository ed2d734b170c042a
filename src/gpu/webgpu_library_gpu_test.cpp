// Which library opens devices: one at a time.
#include <gtest/gtest.h>

#include "gpu/webgpu_device.hpp"
#include "support/test_adapter.hpp"

namespace ztvm::gpu {
namespace {

WebGpuLibrary library_of(const Device& device) {
  return device.caps().compiler == ShaderCompiler::tint ? WebGpuLibrary::dawn : WebGpuLibrary::wgpu_native;
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

}  // namespace
}  // namespace ztvm::gpu
