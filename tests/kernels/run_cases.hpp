#pragma once
// Runs the cases of one kernel on the test adapter.
#include <gtest/gtest.h>

#include <string_view>

#include "kernels/cases.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {

// On an adapter that is a CPU, where they take minutes, only the sets that people get by default run all cases, the others
// doctor's. ZTVM_ALL_CASES=1 runs all on all sets, ZTVM_QUICK_CASES=1 doctor's cases everywhere.
inline bool runs_quick_cases_only(const gpu::Device& device, const gpu::Target& target) {
  if (std::getenv("ZTVM_QUICK_CASES") != nullptr) return true;
  if (std::getenv("ZTVM_ALL_CASES") != nullptr || device.caps().kind != gpu::AdapterKind::cpu) return false;
  return !target.cpu && !(target.f16 && target.subgroups);
}

// Every case of `kernel`, with every kernel set that the adapter can run, equals its oracle.
inline void expect_cases_match(std::string_view kernel) {
  gpu::Device* device = test_device();
  ASSERT_NE(device, nullptr) << "no adapter is found";
  const bool knows_int8 = kernel == "matmul" || kernel == "quantise_input";
  for (const gpu::Target& target : test_targets(*device, knows_int8)) {
    const bool quick_only = runs_quick_cases_only(*device, target);
    std::size_t n_cases = 0;
    for (const KernelCase& kernel_case : all_cases()) {
      if (kernel_case.kernel != kernel || (quick_only && !kernel_case.quick)) continue;
      ++n_cases;
      SCOPED_TRACE(gpu::describe(target) + ", " + kernel_case.name);
      const auto result = run_case(*device, target, kernel_case);
      ASSERT_TRUE(result) << result.error().text;
      EXPECT_GT(result->n_ops, 0u);
      if (result->mismatch) ADD_FAILURE() << gpu::describe(*result->mismatch);
    }
    EXPECT_GE(n_cases, 2u);
  }
}

}  // namespace ztvm::kernels
