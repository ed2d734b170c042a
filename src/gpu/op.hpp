#pragma once
// One operation: a program, its buffers, its grid and its oracle. A recording is a list of them, plain data that
// three executors run: the GPU plan, the oracles on the host, and lockstep, which runs both and compares.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "gpu/device.hpp"
#include "gpu/program.hpp"
#include "gpu/target.hpp"

namespace ztvm::gpu {

// How the elements of a buffer lie in memory.
enum class Dtype : std::uint8_t {
  f32,
  f16,
  u32,
  i8_groups,  // base/int8_groups.hpp
};
// Bytes of `n_elements` that follow each other; of i8_groups whole groups.
std::uint64_t dtype_bytes(Dtype dtype, std::uint64_t n_elements);

// A whole buffer and its element type. Borrowed: whoever made the buffer owns it.
struct Tensor {
  BufferId buffer = BufferId::none;
  Dtype dtype = Dtype::f32;
};

// A binding as an oracle sees it: the bytes of the buffer on the host.
struct HostView {
  MutableBytes bytes;
  Dtype dtype = Dtype::f32;

  std::size_t n_elements() const;
  float load(std::size_t i) const;               // any dtype, as a number
  void store(std::size_t i, float value) const;  // rounds to the dtype, f32 or f16
  // Stores elements that follow each other, rounded to any float dtype; i8_groups from the start of a group.
  void store_all(std::size_t first, std::span<const float> values) const;
  std::uint32_t word(std::size_t i) const { return load_as<std::uint32_t>(bytes, i * 4); }
  void set_word(std::size_t i, std::uint32_t value) const;
};

// Computes what the kernel computes, from the same bytes, in double precision. One view for each binding.
using Oracle = std::function<void(std::span<const HostView>)>;

struct Binding {
  Tensor tensor;
  Access access = Access::read;
};

// Workgroups of an axis that every device takes.
inline constexpr std::uint32_t k_max_axis = 65535;

// What a pass covers, for the sizes of grids.
struct Extent {
  static constexpr std::uint32_t k_all_keys = ~std::uint32_t{0};

  // NOLINTNEXTLINE(google-explicit-constructor): most passes are told by their rows alone
  Extent(std::uint32_t rows, std::uint32_t keys = k_all_keys) : n_rows(rows), n_keys(keys) {}
  std::uint32_t n_rows;
  std::uint32_t n_keys;  // positions that the last row attends to; k_all_keys where the host does not know
};

// Workgroups. The axis named by `rows_axis` is set at each submit to ceil(n_rows / rows_per_workgroup), that named by
// `keys_axis` to ceil(n_keys / keys_per_workgroup), which is at most what stands here.
struct Grid {
  enum class Axis : std::uint8_t { none, x, y, z };
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  Axis rows_axis = Axis::none;
  std::uint32_t rows_per_workgroup = 1;
  Axis keys_axis = Axis::none;
  std::uint32_t keys_per_workgroup = 1;
};

// One of several ways to run an op: same bindings, same result, other speed.
struct Form {
  std::string name;  // "512 threads, 4 rounds at a time"
  Program program;
  Grid grid;
};

struct Op {
  std::string name;  // "layer 3 attention"
  Program program;
  std::vector<Binding> bindings;
  Grid grid;
  Oracle oracle;
  // Largest |got - want| allowed, as a multiple of |want| + rms(want) of the output; u32 outputs must be equal, and of
  // i8_groups the scales are held to it.
  float tolerance = 0.0f;
  // Of an op that has several forms (gpu/tuning.hpp): what they depend on, so that ops of one shape have the same forms,
  // and all of them, the kernel's own choice first.
  std::string shape;
  std::vector<Form> forms;
};

// What was measured, by shape: gpu/tuning.hpp.
struct TunedShape;
using Tuning = std::map<std::string, TunedShape, std::less<>>;

// What kernels are recorded into.
struct Recording {
  Target target;
  Limits limits;
  std::uint32_t max_rows = 1;  // rows a pass may have
  std::vector<Op> ops;
  std::shared_ptr<const Tuning> tuning;  // none: every kernel takes its own choice
};

// Tolerance of a sum of `n_terms` products accumulated in f32, its result rounded to `dtype`.
float sum_tolerance(std::size_t n_terms, Dtype dtype);

// Workgroups on x and y for `n` workgroups in one list, when the limit of one axis may be exceeded; shaders linearise
// with workgroup_id.y * num_workgroups.x + workgroup_id.x.
Grid linear_grid(std::uint32_t n_workgroups);

}  // namespace ztvm::gpu
