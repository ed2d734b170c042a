// Lockstep: every op runs on the GPU and as its oracle, from the same input bytes.

#include <utility>

#include "gpu/executor.hpp"
#include "gpu/plan.hpp"

namespace ztvm::gpu {
namespace {

std::vector<HostView> views_of(const Op& op, BindingBytes& buffers) {
  std::vector<HostView> views;
  for (std::size_t b = 0; b < op.bindings.size(); ++b)
    views.push_back({buffers[b], op.bindings[b].tensor.dtype});
  return views;
}

class LockstepExecutor final : public Executor {
 public:
  LockstepExecutor(Device& device, LockstepReport& report)
      : device_(device), cache_(device), report_(report) {}

  RecordingId add(Recording recording) override {
    plans_.push_back(std::make_unique<Plan>(device_, cache_, recording));
    recordings_.push_back(std::move(recording));
    return static_cast<RecordingId>(plans_.size() - 1);
  }
  void run(RecordingId id, Extent extent, std::size_t first, std::size_t last) override {
    for (std::size_t i = first; i < last; ++i) {
      if (status_) status_ = run_one(static_cast<std::size_t>(id), extent, i);
    }
  }
  Result<void> flush() override { return std::exchange(status_, {}); }
  const Recording& recording(RecordingId id) const override {
    return recordings_[static_cast<std::size_t>(id)];
  }

 private:
  Result<BindingBytes> read_bindings(const Op& op);
  Result<void> run_one(std::size_t id, Extent extent, std::size_t index);

  Device& device_;
  PipelineCache cache_;
  LockstepReport& report_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<Recording> recordings_;
  Result<void> status_;
};

Result<BindingBytes> LockstepExecutor::read_bindings(const Op& op) {
  BindingBytes buffers;
  for (const Binding& binding : op.bindings) {
    auto bytes = read_now(device_, binding.tensor.buffer, 0, k_whole_buffer);
    if (!bytes) return forward(bytes);
    buffers.push_back(std::move(*bytes));
  }
  return buffers;
}

Result<void> LockstepExecutor::run_one(std::size_t id, Extent extent, std::size_t index) {
  const Op& op = recordings_[id].ops[index];
  const bool comparing = !report_.first_mismatch;
  Result<BindingBytes> before;
  if (comparing) {
    before = read_bindings(op);
    if (!before) return forward(before);
  }
  std::vector<Command> commands;
  plans_[id]->append(commands, extent, index, index + 1);
  device_.submit(commands);
  if (!comparing) return {};
  auto after = read_bindings(op);
  if (!after) return forward(after);
  ++report_.n_ops;
  report_.first_mismatch = compare_with_oracle(op, std::move(*before), std::move(*after));
  return {};
}

}  // namespace

std::optional<Mismatch> compare_with_oracle(const Op& op, BindingBytes before, BindingBytes after) {
  op.oracle(views_of(op, before));
  return compare(op, views_of(op, after), views_of(op, before));
}

std::unique_ptr<Executor> make_lockstep_executor(Device& device, LockstepReport& report) {
  return std::make_unique<LockstepExecutor>(device, report);
}

}  // namespace ztvm::gpu
