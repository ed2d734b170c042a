// Lockstep that never waits: the bytes before and after an op are read behind it and compared when they arrive.
#include <list>
#include <utility>

#include "gpu/executor.hpp"
#include "gpu/plan.hpp"

namespace ztvm::gpu {
namespace {

// An op that ran and whose bytes are on their way.
struct Passage {
  const Op* op = nullptr;
  bool* compared = nullptr;
  BindingBytes before;
  BindingBytes after;  // empty for bindings that are only read
  std::size_t n_reads_left = 0;
  std::uint64_t n_bytes = 0;
};

class AsyncLockstepExecutor final : public Executor {
 public:
  AsyncLockstepExecutor(Device& device, LockstepReport& report, std::uint64_t max_bytes)
      : device_(device), cache_(device), report_(report), max_bytes_(max_bytes) {}
  ~AsyncLockstepExecutor() override { check(passages_.empty(), "lockstep is polled to its end"); }

  RecordingId add(Recording recording) override {
    plans_.push_back(std::make_unique<Plan>(device_, cache_, recording));
    recordings_.push_back(std::make_unique<Recording>(std::move(recording)));
    const std::size_t n_ops = recordings_.back()->ops.size();
    compared_.push_back(std::make_unique<bool[]>(n_ops));
    report_.n_recorded += n_ops;
    return static_cast<RecordingId>(plans_.size() - 1);
  }
  void run(RecordingId id, Extent extent, std::size_t first, std::size_t last) override {
    for (std::size_t i = first; i < last; ++i) run_one(static_cast<std::size_t>(id), extent, i);
  }
  Result<void> flush() override { return std::exchange(status_, {}); }
  const Recording& recording(RecordingId id) const override {
    return *recordings_[static_cast<std::size_t>(id)];
  }

 private:
  void run_one(std::size_t id, Extent extent, std::size_t index);
  bool is_compared_now(std::uint64_t n_bytes, bool compared_before) const;
  using PassageAt = std::list<Passage>::iterator;
  void read(PassageAt passage, std::size_t binding, std::vector<std::byte>& to);
  void arrived(PassageAt passage);

  Device& device_;
  PipelineCache cache_;
  LockstepReport& report_;
  std::uint64_t max_bytes_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<std::unique_ptr<Recording>> recordings_;  // whose ops are pointed at
  std::vector<std::unique_ptr<bool[]>> compared_;       // for each op of each recording
  std::list<Passage> passages_;
  std::uint64_t n_bytes_ = 0;  // on their way
  Result<void> status_;
};

bool AsyncLockstepExecutor::is_compared_now(std::uint64_t n_bytes, bool compared_before) const {
  if (report_.first_mismatch || !status_) return false;
  // An op that alone is larger than the limit is compared when nothing else is on its way.
  const std::uint64_t limit = compared_before ? max_bytes_ / 4 : max_bytes_;
  return n_bytes_ + n_bytes <= limit || (!compared_before && n_bytes_ == 0);
}

void AsyncLockstepExecutor::run_one(std::size_t id, Extent extent, std::size_t index) {
  const Op& op = recordings_[id]->ops[index];
  bool& compared = compared_[id][index];
  std::uint64_t n_bytes = 0;
  for (const Binding& binding : op.bindings) {
    const bool is_written = binding.access == Access::read_write;
    n_bytes += device_.n_bytes(binding.tensor.buffer) * (is_written ? 2 : 1);
  }
  PassageAt passage = passages_.end();
  if (is_compared_now(n_bytes, compared)) {
    passage = passages_.insert(passages_.end(), {.op = &op,
                                                 .compared = &compared,
                                                 .before = BindingBytes(op.bindings.size()),
                                                 .after = BindingBytes(op.bindings.size()),
                                                 .n_reads_left = 1,  // until all are asked for
                                                 .n_bytes = n_bytes});
    n_bytes_ += n_bytes;
    for (std::size_t b = 0; b < op.bindings.size(); ++b) read(passage, b, passage->before[b]);
  }
  std::vector<Command> commands;
  plans_[id]->append(commands, extent, index, index + 1);
  device_.submit(commands);
  if (passage == passages_.end()) return;
  for (std::size_t b = 0; b < op.bindings.size(); ++b) {
    if (op.bindings[b].access == Access::read_write) read(passage, b, passage->after[b]);
  }
  arrived(passage);
}

void AsyncLockstepExecutor::read(PassageAt passage, std::size_t binding, std::vector<std::byte>& to) {
  ++passage->n_reads_left;
  device_.read(passage->op->bindings[binding].tensor.buffer, 0, k_whole_buffer,
               [this, passage, &to](const Result<Bytes>& bytes) {
                 if (bytes) {
                   to.assign(bytes->begin(), bytes->end());
                 } else if (status_) {
                   status_ = std::unexpected(bytes.error());
                 }
                 arrived(passage);
               });
}

void AsyncLockstepExecutor::arrived(PassageAt passage) {
  if (--passage->n_reads_left > 0) return;
  Passage done = std::move(*passage);
  passages_.erase(passage);
  n_bytes_ -= done.n_bytes;
  if (report_.first_mismatch || !status_) return;
  ++report_.n_ops;
  if (!std::exchange(*done.compared, true)) ++report_.n_different;
  report_.first_mismatch = compare_with_oracle(*done.op, std::move(done.before), std::move(done.after));
}

}  // namespace

std::unique_ptr<Executor> make_async_lockstep_executor(Device& device, LockstepReport& report,
                                                       std::uint64_t max_bytes) {
  return std::make_unique<AsyncLockstepExecutor>(device, report, max_bytes);
}

}  // namespace ztvm::gpu
