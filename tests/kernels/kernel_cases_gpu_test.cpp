// All cases of each kernel, with every kernel set that the adapter can run, equal their oracles.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "kernels/cases.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

// On an adapter that is a CPU, where they take minutes, only the sets that people get by default run all cases, the others
// doctor's. ZTVM_ALL_CASES=1 runs all on all sets, in every form, ZTVM_QUICK_CASES=1 doctor's cases everywhere;
// ZTVM_CASE_SHARE=3/16 of a kernel's cases the third of every sixteen, for several processes at once.
bool runs_quick_cases_only(const gpu::Device& device, const gpu::Target& target) {
  if (std::getenv("ZTVM_QUICK_CASES") != nullptr) return true;
  if (std::getenv("ZTVM_ALL_CASES") != nullptr || device.caps().kind != gpu::AdapterKind::cpu) return false;
  return !target.cpu && (target.int8 || !target.f16 || !target.subgroups);
}

struct Share {
  std::size_t number = 1;
  std::size_t of = 1;

  bool has(std::size_t case_number) const { return case_number % of == number - 1; }
};

Share share_of_cases() {
  Share share;
  const char* text = std::getenv("ZTVM_CASE_SHARE");
  if (text == nullptr) return share;
  if (std::sscanf(text, "%zu/%zu", &share.number, &share.of) != 2 || share.number == 0 ||
      share.number > share.of) {
    ADD_FAILURE() << "ZTVM_CASE_SHARE is \"" << text << "\", not as 3/16";
    return {};
  }
  return share;
}

std::set<std::string> kernel_names() {
  std::set<std::string> names;
  for (const KernelCase& kernel_case : all_cases()) names.insert(kernel_case.kernel);
  return names;
}

class KernelCases : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, KernelCases, testing::ValuesIn(kernel_names()),
                         [](const auto& info) { return info.param; });

TEST_P(KernelCases, Match) {
  gpu::Device* device = test_device();
  ASSERT_NE(device, nullptr) << "no adapter is found";
  std::vector<KernelCase> every_case = all_cases();
  const Share share = share_of_cases();
  const bool knows_int8 =
      GetParam() == "matmul" || GetParam() == "quantise_input" || GetParam() == "expert_matmul";
  for (const gpu::Target& target : test_targets(*device, knows_int8)) {
    const bool quick_only = runs_quick_cases_only(*device, target);
    std::size_t n_cases = 0;
    for (KernelCase& kernel_case : every_case) {
      if (std::getenv("ZTVM_ALL_CASES") != nullptr) kernel_case.all_forms = true;
      if (kernel_case.kernel != GetParam() || (quick_only && !kernel_case.quick)) continue;
      if (!share.has(n_cases++)) continue;
      SCOPED_TRACE(gpu::describe(target) + ", " + kernel_case.name);
      const auto result = run_case(*device, target, kernel_case);
      ASSERT_TRUE(result) << result.error().text;
      EXPECT_GT(result->n_ops, 0u);
      if (result->mismatch) ADD_FAILURE() << gpu::describe(*result->mismatch);
    }
    EXPECT_GE(n_cases, 2u);
  }
}

}  // namespace
}  // namespace ztvm::kernels
