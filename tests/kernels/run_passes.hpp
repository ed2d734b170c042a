#pragma once
// Runs a kernel with a recurrent state over a sequence that is cut into passes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "gpu/executor.hpp"
#include "kernels/case_builder.hpp"

namespace ztvm::kernels {

struct RecurrentBuffers {
  gpu::Tensor step;
  gpu::Tensor x;      // [max_rows, x_stride] activation type
  gpu::Tensor state;  // [n_state] f32
  gpu::Tensor out;    // [max_rows, out_stride]
};

struct RecurrentKernel {
  std::uint32_t x_stride = 0;
  std::uint32_t out_stride = 0;
  std::size_t n_state = 0;
  bool f32_out = false;
  std::function<void(CaseBuilder&, gpu::Recording&, const RecurrentBuffers&)> record;
};

struct RecurrentResult {
  std::vector<float> out;    // [rows, out_stride]
  std::vector<float> state;  // [n_state]
};

inline std::vector<float> read_values(gpu::Device& device, const gpu::Tensor& tensor, std::size_t n) {
  auto bytes = gpu::read_now(device, tensor.buffer, 0, gpu::k_whole_buffer);
  EXPECT_TRUE(bytes);
  std::vector<float> values(n);
  if (!bytes) return values;
  const gpu::HostView view = {*bytes, tensor.dtype};
  for (std::size_t i = 0; i < n; ++i) values[i] = view.load(i);
  return values;
}

inline void write_values(gpu::Device& device, const gpu::Tensor& tensor, std::span<const float> values) {
  std::vector<std::byte> bytes(round_up<std::size_t>(gpu::dtype_bytes(tensor.dtype, values.size()), 4));
  const gpu::HostView view = {bytes, tensor.dtype};
  for (std::size_t i = 0; i < values.size(); ++i) view.store(i, values[i]);
  device.write(tensor.buffer, 0, bytes);
}

// `x` is [sum of pass_rows, x_stride]. The state begins as noise, which position 0 must ignore; rows of x beyond a pass
// are from passes before.
inline RecurrentResult run_passes(gpu::Device& device, const gpu::Target& target,
                                  const RecurrentKernel& kernel, std::span<const float> x,
                                  std::uint32_t max_rows, std::span<const std::uint32_t> pass_rows) {
  CaseBuilder builder(device, target, 1);
  const RecurrentBuffers buffers = {
      .step = builder.step({.n_rows = max_rows}),
      .x = builder.tensor(builder.activation(), std::size_t{max_rows} * kernel.x_stride, Fill::outliers),
      .state = builder.tensor(gpu::Dtype::f32, kernel.n_state, Fill::outliers),
      .out = builder.tensor(kernel.f32_out ? gpu::Dtype::f32 : builder.activation(),
                            std::size_t{max_rows} * kernel.out_stride, Fill::normal)};
  gpu::Recording recording = {.target = target, .max_rows = max_rows, .ops = {}};
  kernel.record(builder, recording, buffers);
  EXPECT_TRUE(builder.status());
  const auto executor = gpu::make_gpu_executor(device);
  const gpu::RecordingId id = executor->add(std::move(recording));
  RecurrentResult result;
  std::uint32_t position = 0;
  for (const std::uint32_t n_rows : pass_rows) {
    const Step step = {.n_rows = n_rows, .position = position};
    device.write(buffers.step.buffer, 0, std::as_bytes(std::span(&step, 1)));
    write_values(device, buffers.x, x.subspan(position * kernel.x_stride, n_rows * kernel.x_stride));
    executor->run(id, n_rows);
    EXPECT_TRUE(executor->flush());
    const auto out = read_values(device, buffers.out, std::size_t{n_rows} * kernel.out_stride);
    EXPECT_TRUE(device.poll(false));
    result.out.insert(result.out.end(), out.begin(), out.end());
    position += n_rows;
  }
  result.state = read_values(device, buffers.state, kernel.n_state);
  return result;
}

// |got - want| is at most tolerance * (|want| + rms of the expected values).
inline void expect_close(std::span<const float> got, std::span<const float> want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double sum = 0.0;
  for (const float value : want) sum += double{value} * value;
  const double rms = std::sqrt(sum / static_cast<double>(want.size()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance * (std::abs(want[i]) + rms)) << "element " << i;
  }
}

}  // namespace ztvm::kernels
