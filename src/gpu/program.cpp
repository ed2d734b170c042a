#include "gpu/program.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace ztvm::gpu {
namespace {

std::string print(const Const& value) {
  switch (value.type) {
    case Const::Type::u32: return fmt::format("const {} = {}u;\n", value.name, value.u32);
    case Const::Type::boolean: return fmt::format("const {} = {};\n", value.name, value.u32 != 0);
    case Const::Type::f32: break;
  }
  check(std::isfinite(value.f32), "a shader constant is finite");
  // to_chars prints the shortest text that reads back as the same float.
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value.f32, std::chars_format::scientific).ptr;
  return fmt::format("const {}: f32 = {};\n", value.name, std::string_view(text.data(), end));
}

std::string_view source_of(std::string_view name) {
  const std::string_view text = shader_source(name);
  check(!text.empty(), "a program names a shader file that exists");
  return text;
}

}  // namespace

std::string link(const Program& program, const Target& target, ShaderCompiler compiler) {
  std::string text;
  if (target.f16) text += "enable f16;\n";
  // naga offers subgroup operations without the directive, and refuses it.
  if (target.subgroups && compiler == ShaderCompiler::tint) text += "enable subgroups;\n";
  if (program.matrices) {
    // Where a subgroup's matrices begin depends on its number, which is the same for all of its threads.
    text += "enable chromium_experimental_subgroup_matrix;\n";
    text += "diagnostic(off, chromium.subgroup_matrix_uniformity);\n";
  }
  text += fmt::format("alias Elem = {};\n", target.f16 ? "f16" : "f32");
  for (const Const& value : program.consts) text += print(value);
  for (const std::string_view part : program.parts) text += source_of(part);
  text += source_of(program.body);
  return text;
}

}  // namespace ztvm::gpu
