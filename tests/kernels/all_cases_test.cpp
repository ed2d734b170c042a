// Every case of every kernel, on the adapter that ZTVM_TEST_ADAPTER names, with every kernel set it can run.
#include <gtest/gtest.h>

#include "kernels/cases.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

struct Job {
  KernelCase kernel_case;
  gpu::Target target;
};

class Cases : public testing::TestWithParam<std::string> {};

TEST_P(Cases, MatchTheirOracles) {
  gpu::Device* device = test_device();
  ASSERT_NE(device, nullptr) << "no adapter";
  for (const gpu::Target& target : test_targets(*device)) {
    for (const KernelCase& kernel_case : all_cases()) {
      if (kernel_case.kernel != GetParam()) continue;
      SCOPED_TRACE(gpu::describe(target) + ", " + kernel_case.name);
      const auto result = run_case(*device, target, kernel_case);
      ASSERT_TRUE(result) << result.error().text;
      EXPECT_GT(result->n_ops, 0u);
      if (result->mismatch) ADD_FAILURE() << gpu::describe(*result->mismatch);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Cases,
                         testing::Values("embed", "rms_norm", "matmul", "rope_kv", "attention", "penalise", "argmax",
                                         "sample", "advance"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ztvm::kernels
