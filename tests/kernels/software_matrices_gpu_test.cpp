// The matmuls by subgroup matrices equal their oracles with matrices in software.
#include "support/software_matrices.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cases.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

constexpr gpu::Target k_target = {.cpu = false, .f16 = true, .subgroups = true, .matrices = true};

// Doctor's cases in the kernel's own form, because a CPU takes seconds to compile each; ZTVM_ALL_CASES=1: all in every form.
std::vector<KernelCase> cases_of_several_rows() {
  const bool all = std::getenv("ZTVM_ALL_CASES") != nullptr;
  std::vector<KernelCase> cases = matmul_cases();
  std::erase_if(cases, [&](const KernelCase& one) {
    return one.max_rows == 1 || !one.all_forms || (!all && !one.quick);
  });
  for (KernelCase& one : cases) one.all_forms = all;
  return cases;
}

TEST(SoftwareMatrices, MatmulsMatch) {
  gpu::Device* device = test_device();
  ASSERT_NE(device, nullptr) << "no adapter is found";
  if (!device->caps().f16) GTEST_SKIP() << "no f16";
  tests::SoftwareMatrices software(*device);
  const std::vector<KernelCase> cases = cases_of_several_rows();
  EXPECT_GE(cases.size(), 5u);
  for (const KernelCase& one : cases) {
    SCOPED_TRACE(one.name);
    const auto result = run_case(software, k_target, one);
    ASSERT_TRUE(result) << result.error().text;
    if (result->mismatch) ADD_FAILURE() << gpu::describe(*result->mismatch);
  }
}

}  // namespace
}  // namespace ztvm::kernels
