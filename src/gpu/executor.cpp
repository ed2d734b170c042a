#include "gpu/executor.hpp"

#include "gpu/plan.hpp"

namespace ztvm::gpu {
namespace {

class GpuExecutor final : public Executor {
 public:
  explicit GpuExecutor(Device& device) : device_(device), cache_(device) {}

  RecordingId add(Recording recording) override {
    plans_.push_back(std::make_unique<Plan>(device_, cache_, recording));
    recordings_.push_back(std::move(recording));
    return static_cast<RecordingId>(plans_.size() - 1);
  }
  void run(RecordingId id, Extent extent, std::size_t first, std::size_t last) override {
    plans_[static_cast<std::size_t>(id)]->append(commands_, extent, first, last);
  }
  Result<void> flush() override {
    device_.submit(commands_);
    commands_.clear();
    return {};
  }
  const Recording& recording(RecordingId id) const override {
    return recordings_[static_cast<std::size_t>(id)];
  }

 private:
  Device& device_;
  PipelineCache cache_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<Recording> recordings_;
  std::vector<Command> commands_;  // keeps its capacity from token to token
};

class ReferenceExecutor final : public Executor {
 public:
  explicit ReferenceExecutor(HostDevice& device) : device_(device) {}

  RecordingId add(Recording recording) override {
    recordings_.push_back(std::move(recording));
    return static_cast<RecordingId>(recordings_.size() - 1);
  }
  void run(RecordingId id, Extent, std::size_t first, std::size_t last) override {
    const Recording& recording = recordings_[static_cast<std::size_t>(id)];
    for (std::size_t i = first; i < last; ++i) {
      views_.clear();
      for (const Binding& binding : recording.ops[i].bindings) {
        views_.push_back({device_.memory(binding.tensor.buffer), binding.tensor.dtype});
      }
      recording.ops[i].oracle(views_);
    }
  }
  Result<void> flush() override { return {}; }
  const Recording& recording(RecordingId id) const override {
    return recordings_[static_cast<std::size_t>(id)];
  }

 private:
  HostDevice& device_;
  std::vector<Recording> recordings_;
  std::vector<HostView> views_;
};

}  // namespace

std::unique_ptr<Executor> make_gpu_executor(Device& device) { return std::make_unique<GpuExecutor>(device); }
std::unique_ptr<Executor> make_reference_executor(HostDevice& device) {
  return std::make_unique<ReferenceExecutor>(device);
}

}  // namespace ztvm::gpu
