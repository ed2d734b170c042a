#pragma once
// How keys and values are cached: an option of the engine.
#include <array>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "gpu/op.hpp"

namespace ztvm::model {

enum class KvType : std::uint8_t {
  floats,  // the kernel set's activation type, f16 or f32
  int8,    // 36 bytes for 32 elements, see base/int8_groups.hpp
};

// The names in options and reports, by KvType.
inline constexpr std::array<std::string_view, 2> k_kv_type_names = {"float", "int8"};
constexpr std::string_view to_string(KvType type) { return k_kv_type_names[static_cast<std::size_t>(type)]; }
// Errors: invalid_argument, listing the names.
Result<KvType> parse_kv_type(std::string_view name);

constexpr gpu::Dtype kv_dtype(KvType type, const gpu::Target& target) {
  if (type == KvType::int8) return gpu::Dtype::i8_groups;
  return target.f16 ? gpu::Dtype::f16 : gpu::Dtype::f32;
}

}  // namespace ztvm::model
