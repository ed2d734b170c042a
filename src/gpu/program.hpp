#pragma once
// WGSL is linked, not preprocessed: a generated prelude, chosen parts and a plain body are joined.
// Module scope is free of order in WGSL, so joining text is linking.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/target.hpp"

namespace ztvm::gpu {

// The text of src/**/<name>.wgsl, or an empty view. Generated at build time.
std::string_view shader_source(std::string_view name);
// Another one for every change of any of them, in hex.
std::string_view shader_fingerprint();

// One `const NAME = value;` of the prelude.
struct Const {
  std::string_view name;
  enum class Type : std::uint8_t { u32, f32, boolean } type = Type::u32;
  std::uint32_t u32 = 0;
  float f32 = 0.0f;
};
constexpr Const const_u32(std::string_view name, std::uint32_t value) {
  return Const{.name = name, .type = Const::Type::u32, .u32 = value};
}
constexpr Const const_f32(std::string_view name, float value) {
  return Const{.name = name, .type = Const::Type::f32, .f32 = value};
}
constexpr Const const_bool(std::string_view name, bool value) {
  return Const{.name = name, .type = Const::Type::boolean, .u32 = value ? 1u : 0u};
}

struct Program {
  std::string_view body;                // file stem of a .wgsl with one entry point `main`
  std::vector<std::string_view> parts;  // file stems of shared WGSL that the body calls
  std::vector<Const> consts;
  bool matrices = false;  // it uses subgroup matrices, which Tint alone has
};

// The complete module. `Elem` is the activation type of the target.
std::string link(const Program& program, const Target& target, ShaderCompiler compiler);

}  // namespace ztvm::gpu
