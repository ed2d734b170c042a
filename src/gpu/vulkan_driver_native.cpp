// Vulkan 1.0 specification, chapter 4: what is needed of vulkan_core.h, which is not among the dependencies.
#include "gpu/vulkan_driver_native.hpp"

#include <dlfcn.h>

#include <cstdint>

namespace ztvm::gpu {
namespace {

constexpr const char* k_loader = "libvulkan.so.1";

struct InstanceCreateInfo {
  std::uint32_t structure_type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const void* application = nullptr;
  std::uint32_t n_layers = 0;
  const char* const* layers = nullptr;
  std::uint32_t n_extensions = 0;
  const char* const* extensions = nullptr;
};
using CreateInstance = std::int32_t (*)(const InstanceCreateInfo*, const void* allocator, void** instance);

bool create_instance() {
  void* loader = ::dlopen(k_loader, RTLD_NOW);  // stays open
  if (loader == nullptr) return false;
  const auto create = reinterpret_cast<CreateInstance>(::dlsym(loader, "vkCreateInstance"));
  const InstanceCreateInfo info;
  void* instance = nullptr;
  return create != nullptr && create(&info, nullptr, &instance) == 0;
}

}  // namespace

void keep_vulkan_driver() { [[maybe_unused]] static const bool kept = create_instance(); }

}  // namespace ztvm::gpu
