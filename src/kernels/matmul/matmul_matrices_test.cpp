// Which products the kernel set with subgroup matrices takes by them, and in which form.
#include <gtest/gtest.h>

#include "gpu/host_device.hpp"
#include "kernels/cases.hpp"
#include "kernels/matmul/matmul_case.hpp"
#include "kernels/matmul/matmul_forms.hpp"

namespace ztvm::kernels {
namespace {

constexpr gpu::Target k_target = {.cpu = false, .f16 = true, .subgroups = true, .matrices = true};

gpu::Recording record(const KernelCase& one, std::uint32_t workgroup_bytes) {
  const auto device = gpu::make_host_device();
  device->mutable_caps().max_workgroup_bytes = workgroup_bytes;
  CaseBuilder builder(*device, k_target, case_seed(one));
  return build_case(builder, k_target, one).value();
}

// Tiles of many rows, of a kind that has whole numbers with one scale a group.
std::vector<KernelCase> tile_cases() {
  std::vector<KernelCase> cases = matmul_cases();
  std::erase_if(cases, [](const KernelCase& one) {
    return !one.name.starts_with("tiles") || !one.all_forms || one.max_rows <= k_some_rows;
  });
  return cases;
}

TEST(MatmulMatrices, ManyRowsAreMultipliedByThemAlone) {
  for (const KernelCase& one : tile_cases()) {
    const gpu::Recording recording = record(one, 49152);
    for (const gpu::Op& op : recording.ops) {
      if (!op.name.starts_with("matmul")) continue;  // a norm
      EXPECT_EQ(op.program.body, "matmul_gpu_matrices") << one.name << ": " << op.name;
      EXPECT_TRUE(op.program.matrices) << one.name;
    }
  }
}

TEST(MatmulMatrices, FormsFitTheMemoryOfAWorkgroup) {
  const auto first_form = [](std::uint32_t workgroup_bytes) {
    KernelCase one = tile_cases().front();
    one.all_forms = false;
    return record(one, workgroup_bytes).ops.back().forms.front().name;
  };
  EXPECT_EQ(first_form(16384), "64 x 64 by matrices, 1 group");
  EXPECT_EQ(first_form(32768), "64 x 128 by matrices, 2 groups");
  EXPECT_EQ(first_form(49152), "128 x 128 by matrices, 2 groups");
}

// x is read by whole matrices, so there must be room for them.
TEST(MatmulMatrices, FewRowsShareTheirWeightRowsAmongSubgroups) {
  std::size_t n_few = 0;
  for (const KernelCase& one : matmul_cases()) {
    if (one.max_rows < 2 || one.max_rows > k_some_rows) continue;
    for (const gpu::Op& op : record(one, 49152).ops) {
      if (op.program.body != "matmul_gpu_few_matrices") continue;
      ++n_few;
      EXPECT_TRUE(op.program.matrices) << one.name;
      EXPECT_EQ(one.max_rows % 16, 0u) << one.name;
    }
  }
  EXPECT_GT(n_few, 10u);
}

// Of some rows, where these make few of the large tiles.
TEST(MatmulMatrices, SomeRowsTakeSmallTilesWhereLargeOnesAreFew) {
  const auto body_for = [](std::uint32_t n_weight_rows) {
    const KernelCase one = make_case(
        {.n_weight_rows = n_weight_rows, .dim = 64, .n_rows = 1, .max_rows = k_some_rows}, "", false);
    return record(one, 49152).ops.back().program.body;
  };
  EXPECT_EQ(body_for(47 * 128), "matmul_gpu_few_matrices");
  EXPECT_EQ(body_for(48 * 128), "matmul_gpu_matrices");
}

TEST(MatmulMatrices, FewRowsFitTheMemoryOfAWorkgroup) {
  const auto first_form = [](std::uint32_t workgroup_bytes) {
    std::vector<KernelCase> few = matmul_cases();
    std::erase_if(few, [](const KernelCase& one) { return !one.name.starts_with("few rows"); });
    few.front().all_forms = false;
    return record(few.front(), workgroup_bytes).ops.back().forms.front().name;
  };
  EXPECT_EQ(first_form(16384), "32 x 32 by matrices, 2 subgroups");
  EXPECT_EQ(first_form(32768), "32 x 32 by matrices, 4 subgroups");
  EXPECT_EQ(first_form(49152), "32 x 32 by matrices, 8 subgroups");
}

}  // namespace
}  // namespace ztvm::kernels
