// The self-test of the browser, natively: the same cases with the same outcome, and none waits.
#include "kernels/selftest.hpp"

#include <gtest/gtest.h>

#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

TEST(SelfTestCases, RunsTheQuickCasesAndAllAgree) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  gpu::Device& device = *test_device();
  SelfTest test(device, gpu::choose_target(device.caps()), /*quick_only=*/true);
  std::size_t n_finished = 0;
  while (!test.done()) {
    const auto finished = test.step();
    if (!finished) {
      ASSERT_TRUE(device.poll(true));
      continue;
    }
    ++n_finished;
    const std::string name = finished->kernel_case->kernel + " " + finished->kernel_case->name;
    ASSERT_TRUE(finished->outcome) << name << ": " << finished->outcome.error().text;
    EXPECT_GT(finished->outcome->n_ops, 0u) << name;
    EXPECT_FALSE(finished->outcome->mismatch) << name << ": " << gpu::describe(*finished->outcome->mismatch);
  }
  EXPECT_EQ(n_finished, test.n_cases());
  EXPECT_GT(n_finished, 10u);
}

// Ten norms in one recording, the sixth with another eps.
gpu::Recording ten_norms(CaseBuilder& builder, const gpu::Target& target) {
  const std::vector<KernelCase> cases = rms_norm_cases();
  gpu::Recording recording = {.target = target, .max_rows = cases.front().max_rows, .ops = {}};
  for (int i = 0; i < 10; ++i) cases.front().build(builder, recording);
  return recording;
}

TEST(AsyncLockstepGpu, ComparesWhatFitsAndTheRestNextTime) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  gpu::Device& device = *test_device();
  const gpu::Target target = gpu::choose_target(device.caps());
  CaseBuilder builder(device, target, 1);
  gpu::LockstepReport report;
  // Less than any op has: one at a time.
  const auto executor = gpu::make_async_lockstep_executor(device, report, 1);
  const gpu::RecordingId id = executor->add(ten_norms(builder, target));
  const std::size_t n_ops = executor->recording(id).ops.size();
  EXPECT_EQ(report.n_recorded, n_ops);
  for (std::size_t pass = 1; pass <= n_ops; ++pass) {
    executor->run(id, builder.n_rows());
    while (device.n_pending() > 0) ASSERT_TRUE(device.poll(true));
    ASSERT_TRUE(executor->flush());
    EXPECT_EQ(report.n_different, pass);
  }
  EXPECT_FALSE(report.first_mismatch);
}

}  // namespace
}  // namespace ztvm::kernels
