#include "support/software_matrices.hpp"

#include <fmt/format.h>

#include <regex>
#include <utility>

namespace ztvm::tests {
namespace {

// A factor is where it lies, {part of its array, offset, stride}: it is read when it is multiplied, before anything else is
// written there. Of the sums, a thread has eight that follow each other.
constexpr std::string_view k_functions = R"(
var<private> own_lane: u32;
fn halves(word: u32) -> vec2<f16> {
  return vec2<f16>(unpack2x16float(word));
}
fn two_words(v: vec4<f16>) -> vec2<u32> {
  return vec2<u32>(pack2x16float(vec2<f32>(v.xy)), pack2x16float(vec2<f32>(v.zw)));
}
fn dot_of_eight(a: vec4<u32>, b: vec4<u32>) -> f32 {
  return dot(unpack2x16float(a.x), unpack2x16float(b.x)) + dot(unpack2x16float(a.y), unpack2x16float(b.y)) +
         dot(unpack2x16float(a.z), unpack2x16float(b.z)) + dot(unpack2x16float(a.w), unpack2x16float(b.w));
}
fn multiply_add(left: vec3<u32>, right: vec3<u32>, before: array<f32, 8>) -> array<f32, 8> {
  var sums = before;
  let row = left.y + own_lane / 2u * left.z;
  let a = left_vector(left.x, row);
  let b = left_vector(left.x, row + 1u);
  for (var i = 0u; i < 8u; i++) {
    let column = right.y + (own_lane % 2u * 8u + i) * right.z;
    sums[i] += dot_of_eight(a, right_vector(right.x, column)) + dot_of_eight(b, right_vector(right.x, column + 1u));
  }
  return sums;
}
fn store_results(part: u32, offset: u32, matrix: array<f32, 8>, stride: u32) {
  var m = matrix;
  for (var i = 0u; i < 8u; i++) {
    results[part][offset + own_lane / 2u * stride + own_lane % 2u * 8u + i] = m[i];
  }
}
)";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string with_software_matrices(std::string_view wgsl) {
  std::string text(wgsl);
  if (text.find("subgroup_matrix") == std::string::npos) return text;
  replace_all(text, "enable chromium_experimental_subgroup_matrix;\n", "");
  replace_all(text, "diagnostic(off, chromium.subgroup_matrix_uniformity);\n", "");
  text = std::regex_replace(text, std::regex("subgroup_matrix_result<f32, 16, 16>"), "array<f32, 8>");
  text = std::regex_replace(text, std::regex("subgroup_matrix_\\w+<f16, 16, 16>"), "vec3<u32>");
  std::string vectors;
  for (const auto& [factor, function] : {std::pair{"Left", "left_vector"}, {"Right", "right_vector"}}) {
    const std::regex load(fmt::format(R"(subgroupMatrixLoad<{}, \w+>\(&(\w+)(\[\w+\])?, )", factor));
    std::smatch found;
    if (!std::regex_search(text, found, load)) continue;
    vectors += fmt::format("fn {}(part: u32, at: u32) -> vec4<u32> {{\n  return {}{}[at];\n}}\n", function,
                           found[1].str(), found[2].matched ? "[part]" : "");
  }
  text = std::regex_replace(text, std::regex(R"(subgroupMatrixLoad<\w+, \w+>\(&\w+\[(\w+)\], )"),
                            "vec3<u32>($1, ");
  text = std::regex_replace(text, std::regex(R"(subgroupMatrixLoad<\w+, \w+>\(&\w+, )"), "vec3<u32>(0u, ");
  text = std::regex_replace(text, std::regex(R"(subgroupMatrixStore<row_major>\(&results\[(\w+)\], )"),
                            "store_results($1, ");
  replace_all(text, "subgroupMatrixMultiplyAccumulate(", "multiply_add(");
  // naga takes the bits of two f16 wrongly.
  replace_all(text, "bitcast<vec2<f16>>(", "halves(");
  replace_all(text, "bitcast<vec2<u32>>(vec4<f16>", "two_words(vec4<f16>");
  text = std::regex_replace(text, std::regex("(fn main\\([^{]*\\{)"), "$1\n  own_lane = thread % 32u;");
  text += k_functions;
  return text + vectors;
}

}  // namespace ztvm::tests
