#pragma once
// The whole difference between native and browser: a WebGPU device behind nine functions and plain data.
// Reads and pipeline compilation are asynchronous; whoever drives a device calls poll() until nothing is pending.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ztvm::gpu {

// Handles are indices into the device's own tables; 0 is no handle.
enum class BufferId : std::uint32_t { none = 0 };
enum class PipelineId : std::uint32_t { none = 0 };
enum class BindingsId : std::uint32_t { none = 0 };

enum class AdapterKind : std::uint8_t { unknown, cpu, integrated, discrete };
enum class ShaderCompiler : std::uint8_t { naga, tint };

// What the adapter offers, asked once. Limits are the ones granted to the device, not WebGPU's defaults.
struct Caps {
  std::string adapter;  // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string driver;   // "Vulkan, Mesa 22.3.6"
  AdapterKind kind = AdapterKind::unknown;
  ShaderCompiler compiler = ShaderCompiler::naga;
  bool f16 = false;        // shader-f16
  bool subgroups = false;  // subgroup operations
  // Matrices of 16 x 16 halves multiplied into floats by a subgroup: chromium_experimental_subgroup_matrix.
  bool subgroup_matrix = false;
  std::uint32_t subgroup_min = 0;
  std::uint32_t subgroup_max = 0;
  std::uint64_t max_buffer_bytes = 256ull << 20;
  std::uint64_t max_binding_bytes = 128ull << 20;
  std::uint32_t max_bindings = 8;  // storage buffers a shader stage
  std::uint32_t max_workgroup_bytes = 16384;
  std::uint32_t max_workgroup_invocations = 256;
  std::uint32_t max_workgroups = 65535;  // a dimension
};

enum class Access : std::uint8_t { read, read_write };

// What is timed of a list of commands. Times in between lengthen it.
enum class Timed : std::uint8_t { each, whole };

// One entry of a command list: fixed-size plain data, so that wasm hands a whole list over in one call.
// dispatch: a = pipeline, b = bindings, x y z = workgroups. copy: a = source, b = destination buffer,
// x = source offset, y = destination offset, z = length, all three in 4-byte words.
struct Command {
  enum class Kind : std::uint32_t { dispatch = 0, copy = 1 };
  Kind kind = Kind::dispatch;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};
static_assert(sizeof(Command) == 24);

struct PipelineDesc {
  std::string_view label;
  std::string_view wgsl;           // complete module, entry point `main`, bindings 0..n-1 of group 0
  std::span<const Access> access;  // one for each binding
};

// Called once with the bytes read, or with the error that prevented it. The span lives during the call only.
using ReadCallback = std::function<void(Result<Bytes>)>;

inline constexpr std::uint64_t k_whole_buffer = ~std::uint64_t{0};

class HostDevice;

class Device {
 public:
  virtual ~Device() = default;

  // This device as host memory, for the reference executor; none for a GPU.
  virtual HostDevice* as_host() { return nullptr; }

  virtual const Caps& caps() const = 0;

  // A zero-filled storage buffer that can be copied from and to. Errors: out_of_memory.
  virtual Result<BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) = 0;
  virtual std::uint64_t n_bytes(BufferId buffer) const = 0;
  // Offset and length are multiples of 4 and inside the buffer.
  virtual void write(BufferId buffer, std::uint64_t offset, Bytes bytes) = 0;
  // Starts compiling; a failure arrives from poll() and names the label.
  virtual PipelineId create_pipeline(const PipelineDesc& desc) = 0;
  virtual BindingsId create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) = 0;
  virtual void destroy(BufferId buffer) = 0;
  virtual void destroy(PipelineId pipeline) = 0;
  virtual void destroy(BindingsId bindings) = 0;

  // Runs the commands in order. Pipelines that are still compiling are waited for.
  virtual void submit(std::span<const Command> commands) = 0;
  // Runs the commands and waits: microseconds by the GPU's clock, from the end of the command before to the end of each,
  // gaps included, or one time for all. Errors: unsupported on a device that was not opened with timestamps.
  virtual Result<std::vector<double>> time(std::span<const Command>, Timed) {
    return fail(ErrorCode::unsupported,
                "The adapter has no timestamps, or the device was opened without them.");
  }
  // Reads after everything submitted so far. Offset and length are multiples of 4; k_whole_buffer reads to the end.
  virtual void read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) = 0;

  // Lets callbacks run. With `wait`, returns only after at least one pending read or pipeline has finished
  // (natively; in a browser the event loop does the waiting and `wait` is ignored).
  // Errors: whatever the device reported since the last call, device_lost above all; every pending callback is
  // still called (with an error once the device is lost).
  virtual Result<void> poll(bool wait) = 0;
  // Reads and pipelines that have not finished.
  virtual std::size_t n_pending() const = 0;
};

// Owns one buffer of one device.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, BufferId id, std::uint64_t n_bytes) : device_(&device), id_(id), n_bytes_(n_bytes) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(id_, other.id_);
    std::swap(n_bytes_, other.n_bytes_);
    return *this;
  }
  ~Buffer() {
    if (id_ != BufferId::none) device_->destroy(id_);
  }
  BufferId id() const { return id_; }
  std::uint64_t n_bytes() const { return n_bytes_; }

 private:
  Device* device_ = nullptr;
  BufferId id_ = BufferId::none;
  std::uint64_t n_bytes_ = 0;
};

// Creates an owned buffer. Errors: out_of_memory, with the label and both numbers.
Result<Buffer> make_buffer(Device& device, std::uint64_t n_bytes, std::string_view label);

// Reads synchronously: polls until the callback ran. Native and host devices only.
Result<std::vector<std::byte>> read_now(Device& device, BufferId buffer, std::uint64_t offset,
                                        std::uint64_t n_bytes);

}  // namespace ztvm::gpu
