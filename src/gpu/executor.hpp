#pragma once
// Runs recordings: on the GPU, as oracles on the host, or both in lockstep. Chosen outside; the decoder is written once.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/host_device.hpp"
#include "gpu/op.hpp"

namespace ztvm::gpu {

enum class RecordingId : std::uint32_t {};

class Executor {
 public:
  virtual ~Executor() = default;
  // Takes a recording; on a GPU its pipelines start compiling.
  virtual RecordingId add(Recording recording) = 0;
  // Queues ops [first, last) of a recording, after everything queued before.
  virtual void run(RecordingId recording, Extent extent, std::size_t first, std::size_t last) = 0;
  // Hands everything queued to the device. Errors: those of the executor itself (lockstep: ops that differ).
  virtual Result<void> flush() = 0;
  virtual const Recording& recording(RecordingId id) const = 0;

  void run(RecordingId id, Extent extent) { run(id, extent, 0, recording(id).ops.size()); }
};

// One op whose GPU result is not the oracle's.
struct Mismatch {
  std::string op;
  std::size_t binding = 0;
  std::size_t element = 0;
  double got = 0.0;
  double want = 0.0;
  double allowed = 0.0;
  std::size_t n_wrong = 0;
};
std::string describe(const Mismatch& mismatch);

// Compares the written bindings of an op. `got` and `want` hold one view for each binding.
std::optional<Mismatch> compare(const Op& op, std::span<const HostView> got, std::span<const HostView> want);

// The same from the bytes of each binding before the op ran and after: runs the oracle on the former. Of the latter,
// those of written bindings suffice.
using BindingBytes = std::vector<std::vector<std::byte>>;
std::optional<Mismatch> compare_with_oracle(const Op& op, BindingBytes before, BindingBytes after);

struct LockstepReport {
  std::size_t n_ops = 0;        // compared
  std::size_t n_different = 0;  // of these, recorded ops that were not compared before
  std::size_t n_recorded = 0;
  std::optional<Mismatch> first_mismatch;
};

std::unique_ptr<Executor> make_gpu_executor(Device& device);
std::unique_ptr<Executor> make_reference_executor(HostDevice& device);
// Runs each op on the GPU and its oracle on the very bytes the GPU had, natively only (it waits for reads).
// The report is filled as it goes; after a mismatch it goes on with the GPU's values but compares no more.
std::unique_ptr<Executor> make_lockstep_executor(Device& device, LockstepReport& report);
// The same without waiting, for a browser: what an op read and wrote is read back behind it, and compared when poll()
// delivers it. At most `max_bytes` are on their way; ops beyond that run uncompared, and those that were never compared
// have the better chance next time. The device is polled until nothing is pending before the executor ends.
std::unique_ptr<Executor> make_async_lockstep_executor(Device& device, LockstepReport& report,
                                                       std::uint64_t max_bytes);

}  // namespace ztvm::gpu
