#include "gpu/target.hpp"

#include <gtest/gtest.h>

#include "gpu/program.hpp"

namespace ztvm::gpu {
namespace {

Caps caps_with_matrices() {
  return {.kind = AdapterKind::discrete,
          .compiler = ShaderCompiler::tint,
          .f16 = true,
          .subgroups = true,
          .subgroup_matrix = true,
          .subgroup_min = 32,
          .subgroup_max = 32};
}

TEST(Target, MatricesAreTakenWithF16AndSubgroupsOf32) {
  EXPECT_EQ(describe(choose_target(caps_with_matrices())), "gpu f16 subgroups matrices");
  Caps caps = caps_with_matrices();
  caps.subgroup_min = 8;
  EXPECT_EQ(describe(choose_target(caps)), "gpu f16 subgroups");
  caps = caps_with_matrices();
  caps.f16 = false;
  EXPECT_EQ(describe(choose_target(caps)), "gpu f32 subgroups");
  caps = caps_with_matrices();
  caps.kind = AdapterKind::cpu;
  EXPECT_EQ(describe(choose_target(caps)), "cpu f32");
}

TEST(Target, EverySetIsReadBackAndSupportedWhereItIsOffered) {
  for (const Target& target : k_all_targets) {
    EXPECT_EQ(parse_target(describe(target)).value(), target);
    EXPECT_TRUE(supports(caps_with_matrices(), target)) << describe(target);
    EXPECT_EQ(supports(Caps(), target), !target.f16 && !target.subgroups) << describe(target);
  }
  Caps caps = caps_with_matrices();
  caps.subgroup_matrix = false;
  EXPECT_FALSE(supports(caps, choose_target(caps_with_matrices())));
}

TEST(Target, ProgramsWithMatricesEnableThemFirst) {
  const Target target = choose_target(caps_with_matrices());
  Program program = {.body = "advance", .parts = {"step"}, .consts = {}};
  constexpr std::string_view k_extension = "enable chromium_experimental_subgroup_matrix;";
  EXPECT_EQ(link(program, target, ShaderCompiler::tint).find(k_extension), std::string::npos);
  program.matrices = true;
  const std::string text = link(program, target, ShaderCompiler::tint);
  ASSERT_NE(text.find(k_extension), std::string::npos);
  EXPECT_LT(text.find(k_extension), text.find("alias Elem"));
  EXPECT_LT(text.find("diagnostic(off, chromium.subgroup_matrix_uniformity);"), text.find("alias Elem"));
}

}  // namespace
}  // namespace ztvm::gpu
