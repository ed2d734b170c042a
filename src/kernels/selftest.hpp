#pragma once
// The kernels' cases one after another without ever waiting, for a browser: reads finish between two calls.
#include <memory>
#include <optional>
#include <vector>

#include "kernels/cases.hpp"

namespace ztvm::kernels {

class SelfTest {
 public:
  // A case that is over. Its outcome is that of run_case().
  struct Finished {
    const KernelCase* kernel_case = nullptr;
    Result<CaseResult> outcome;
  };

  // All cases, or only the quick ones. The adapter supports the target; the device outlives this.
  SelfTest(gpu::Device& device, const gpu::Target& target, bool quick_only);
  ~SelfTest();

  std::size_t n_cases() const { return cases_.size(); }
  bool done() const { return next_ == cases_.size() && !running_; }
  // Starts a case or looks after the running one; nothing while the device works on it. Polls the device.
  std::optional<Finished> step();

 private:
  struct Running;
  void start();

  gpu::Device& device_;
  gpu::Target target_;
  std::vector<KernelCase> cases_;
  std::size_t next_ = 0;
  std::unique_ptr<Running> running_;
};

}  // namespace ztvm::kernels
