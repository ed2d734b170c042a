#include "kernels/selftest.hpp"

#include <utility>

namespace ztvm::kernels {
namespace {

constexpr std::uint64_t k_no_limit = ~std::uint64_t{0};  // a case is small

}  // namespace

// In order of ownership: what is below borrows from what is above.
struct SelfTest::Running {
  const KernelCase* kernel_case = nullptr;
  CaseBuilder builder;
  gpu::LockstepReport report;
  std::unique_ptr<gpu::Executor> executor;
  Result<void> status;  // the first failure
};

SelfTest::SelfTest(gpu::Device& device, const gpu::Target& target, bool quick_only)
    : device_(device), target_(target), cases_(all_cases()) {
  if (quick_only) std::erase_if(cases_, [](const KernelCase& one) { return !one.quick; });
}

SelfTest::~SelfTest() = default;

void SelfTest::start() {
  const KernelCase& next = cases_[next_++];
  running_ = std::make_unique<Running>(Running{.kernel_case = &next,
                                               .builder = CaseBuilder(device_, target_, case_seed(next)),
                                               .report = {},
                                               .executor = nullptr,
                                               .status = {}});
  running_->executor = gpu::make_async_lockstep_executor(device_, running_->report, k_no_limit);
  auto recording = build_case(running_->builder, target_, next);
  if (!recording) {
    running_->status = forward(recording);
    return;
  }
  const gpu::RecordingId id = running_->executor->add(std::move(*recording));
  running_->executor->run(id, running_->builder.n_rows());
}

std::optional<SelfTest::Finished> SelfTest::step() {
  if (!running_) {
    if (next_ == cases_.size()) return std::nullopt;
    start();
  }
  const auto keep_first = [this](Result<void> result) {
    if (!result && running_->status) running_->status = std::move(result);
  };
  keep_first(device_.poll(false));
  if (device_.n_pending() > 0) return std::nullopt;
  // What was pending is over: its error is this case's, so that the next starts clean.
  keep_first(device_.poll(false));
  keep_first(running_->executor->flush());
  const std::unique_ptr<Running> over = std::move(running_);
  if (!over->status) return Finished{over->kernel_case, std::unexpected(over->status.error())};
  return Finished{over->kernel_case, CaseResult{.n_ops = over->report.n_ops,
                                                .mismatch = std::move(over->report.first_mismatch)}};
}

}  // namespace ztvm::kernels
