// The cases as a whole: they can fail, doctor's part covers every kernel, and names tell them apart.
#include "kernels/cases.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "gpu/host_device.hpp"
#include "kernels/rms_norm/rms_norm.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

// One norm, changed by `change` before it is recorded.
KernelCase changed_norm(std::function<void(gpu::Op&)> change) {
  return {.kernel = "test",
          .name = "changed norm",
          .build = [change](CaseBuilder& builder, gpu::Recording& recording) {
            rms_norm(recording, "norm",
                     {.dim = 96,
                      .eps = 1e-5f,
                      .step = builder.step({.n_rows = 1}),
                      .x = builder.tensor(gpu::Dtype::f32, 96, Fill::normal),
                      .weight = builder.tensor(gpu::Dtype::f32, 96, Fill::uniform),
                      .out = builder.tensor(builder.activation(), 96, Fill::normal)});
            change(recording.ops.back());
          }};
}

Result<CaseResult> run_changed(std::function<void(gpu::Op&)> change) {
  gpu::Device& device = *test_device();
  return run_case(device, gpu::choose_target(device.caps()), changed_norm(std::move(change)));
}

TEST(Cases, AnUnchangedProgramMatches) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  const auto result = run_changed([](gpu::Op&) {});
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_FALSE(result->mismatch) << gpu::describe(*result->mismatch);
}

TEST(Cases, AWrongProgramIsFound) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  const auto result = run_changed([](gpu::Op& op) { op.program.consts[1] = gpu::const_f32("EPS", 2e-3f); });
  ASSERT_TRUE(result) << result.error().text;
  ASSERT_TRUE(result->mismatch);
  EXPECT_EQ(result->mismatch->op, "norm");
  EXPECT_EQ(result->mismatch->binding, 3u);
  EXPECT_GT(result->mismatch->n_wrong, 48u);
}

TEST(Cases, AShortProgramIsFound) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  const auto result = run_changed([](gpu::Op& op) { op.program.consts[0] = gpu::const_u32("DIM", 95); });
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_TRUE(result->mismatch);
}

TEST(Cases, AWrongOracleIsFound) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  const auto result = run_changed([](gpu::Op& op) {
    op.oracle = [right = op.oracle](std::span<const gpu::HostView> views) {
      right(views);
      views[3].store(95, views[3].load(95) * 1.01f + 0.01f);
    };
  });
  ASSERT_TRUE(result) << result.error().text;
  ASSERT_TRUE(result->mismatch);
  EXPECT_EQ(result->mismatch->element, 95u);
  EXPECT_EQ(result->mismatch->n_wrong, 1u);
}

TEST(Cases, AShaderThatDoesNotCompileIsAnError) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  const auto broken = run_changed([](gpu::Op& op) { op.program.consts.pop_back(); });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::device);
  const auto next = run_changed([](gpu::Op&) {});
  EXPECT_TRUE(next) << "the device goes on after the error, but: " << next.error().text;
}

TEST(Cases, DoctorsPartHasEveryKernelTwice) {
  std::map<std::string, int> n_quick;
  for (const KernelCase& kernel_case : all_cases()) n_quick[kernel_case.kernel] += kernel_case.quick ? 1 : 0;
  EXPECT_EQ(n_quick.size(), 20u);
  for (const auto& [kernel, n] : n_quick) EXPECT_GE(n, 2) << kernel;
}

TEST(Cases, NamesAreUnique) {
  std::set<std::string> names;
  for (const KernelCase& kernel_case : all_cases()) {
    EXPECT_TRUE(names.insert(kernel_case.kernel + " " + kernel_case.name).second) << kernel_case.name;
  }
}

TEST(Cases, ValuesOfACaseAreTheSameEachTime) {
  const KernelCase kernel_case = all_cases().front();
  const auto first_bytes = [&] {
    gpu::HostDevice device;
    CaseBuilder builder(device, {.cpu = true}, case_seed(kernel_case));
    auto recording = build_case(builder, {.cpu = true}, kernel_case);
    const auto bytes = device.memory(recording->ops[0].bindings[0].tensor.buffer);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(first_bytes(), first_bytes());
}

TEST(Cases, NoMemoryIsAnError) {
  gpu::HostDevice device;
  device.mutable_caps().max_binding_bytes = 64;
  const KernelCase kernel_case = all_cases().front();
  CaseBuilder builder(device, {.cpu = true}, 1);
  const auto recording = build_case(builder, {.cpu = true}, kernel_case);
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().code, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace ztvm::kernels
