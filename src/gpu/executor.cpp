#include "gpu/executor.hpp"

#include <fmt/format.h>

#include <cmath>

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
  void run(RecordingId id, std::uint32_t n_rows, std::size_t first, std::size_t last) override {
    plans_[static_cast<std::size_t>(id)]->append(commands_, n_rows, first, last);
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
  void run(RecordingId id, std::uint32_t, std::size_t first, std::size_t last) override {
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

// Of the finite values that are not zero: a cache is mostly empty, and its values are no smaller for that; one that
// overflowed must not make every other one right.
double rms(const HostView& view) {
  double sum = 0.0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < view.n_elements(); ++i) {
    const double value = view.load(i);
    if (value == 0.0 || !std::isfinite(value)) continue;
    sum += value * value;
    ++n;
  }
  return n == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(n));
}

// How far apart two elements are and may be; u32 must be equal, int8 may differ by one step of rounding, and what is not
// finite must be the same.
struct Distance {
  double got = 0.0;
  double want = 0.0;
  double allowed = 0.0;
  bool fine() const {
    return std::abs(got - want) <= allowed || (std::isnan(got) && std::isnan(want)) || got == want;
  }
};

Distance distance(const HostView& got, const HostView& want, std::size_t i, double scale, double tolerance) {
  if (got.dtype == Dtype::u32) return {double(got.word(i)), double(want.word(i)), 0.0};
  const double wanted = want.load(i);
  if (got.dtype == Dtype::i8) return {got.load(i), wanted, 1.0};
  return {got.load(i), wanted, std::isfinite(wanted) ? tolerance * (std::abs(wanted) + scale) : 0.0};
}

}  // namespace

std::optional<Mismatch> compare(const Op& op, std::span<const HostView> got, std::span<const HostView> want) {
  for (std::size_t b = 0; b < op.bindings.size(); ++b) {
    if (op.bindings[b].access != Access::read_write) continue;
    const double scale = got[b].dtype == Dtype::u32 ? 0.0 : rms(want[b]);
    Mismatch mismatch{.op = op.name, .binding = b};
    double worst = 0.0;
    for (std::size_t i = 0; i < got[b].n_elements(); ++i) {
      const Distance d = distance(got[b], want[b], i, scale, op.tolerance);
      if (d.fine()) continue;
      ++mismatch.n_wrong;
      const double excess = std::isfinite(d.got) ? std::abs(d.got - d.want) / (d.allowed + 1e-30) : INFINITY;
      if (mismatch.n_wrong > 1 && !(excess > worst)) continue;
      worst = excess;
      mismatch.element = i;
      mismatch.got = d.got;
      mismatch.want = d.want;
      mismatch.allowed = d.allowed;
    }
    if (mismatch.n_wrong > 0) return mismatch;
  }
  return std::nullopt;
}

std::string describe(const Mismatch& m) {
  return fmt::format(
      "Op \"{}\" differs in {} elements of binding {}; the worst is element {}: got {}, expected {} within "
      "{}.",
      m.op, m.n_wrong, m.binding, m.element, m.got, m.want, m.allowed);
}

std::unique_ptr<Executor> make_gpu_executor(Device& device) { return std::make_unique<GpuExecutor>(device); }
std::unique_ptr<Executor> make_reference_executor(HostDevice& device) {
  return std::make_unique<ReferenceExecutor>(device);
}

}  // namespace ztvm::gpu
