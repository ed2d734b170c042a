#include "kernels/matmul/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

constexpr std::uint32_t k_dim = 32;

// Weights [2, 32]: row 0 is 1, 2, 3, ...; row 1 is 1, -1, 1, ...
HostTensor two_rows() {
  HostTensor weights(gpu::Dtype::f32, 2 * k_dim);
  for (std::size_t i = 0; i < k_dim; ++i) {
    weights.view().store(i, static_cast<float>(i + 1));
    weights.view().store(k_dim + i, i % 2 == 0 ? 1.0f : -1.0f);
  }
  return weights;
}

// x [3, 32]: ones; 1 at element 3 alone; 0, 1, 2, ...
HostTensor three_inputs() {
  HostTensor x(gpu::Dtype::f32, 3 * k_dim);
  for (std::size_t i = 0; i < k_dim; ++i) {
    x.view().store(i, 1.0f);
    x.view().store(2 * k_dim + i, static_cast<float>(i));
  }
  x.view().store(k_dim + 3, 1.0f);
  return x;
}

void run(const MatmulShape& shape, std::uint32_t n_rows, HostTensor& out) {
  HostTensor weights = two_rows();
  HostTensor step(Step{.n_rows = n_rows});
  HostTensor x = three_inputs();
  const gpu::HostView words = {weights.view().bytes, gpu::Dtype::u32};
  matmul_reference(std::array{words, words, step.view(), x.view(), out.view()}, shape);
}

TEST(Matmul, OracleByHand) {
  HostTensor out = {7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f};
  run({.dim = k_dim, .n_elements = k_dim, .n_out = 2, .out_stride = 2, .epilogue = Epilogue::store_f32}, 3,
      out);
  EXPECT_EQ(out[0], 528.0f);  // 32 * 33 / 2
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], 4.0f);
  EXPECT_EQ(out[3], -1.0f);
  EXPECT_EQ(out[4], 10912.0f);  // sum of i (i + 1)
  EXPECT_EQ(out[5], -16.0f);
}

TEST(Matmul, OracleOfAPart) {
  HostTensor out = {7.0f, 7.0f, 7.0f, 7.0f, 7.0f};
  run({.dim = k_dim,
       .n_elements = k_dim,
       .n_out = 2,
       .out_stride = 5,
       .out_first = 3,
       .epilogue = Epilogue::store},
      1, out);
  EXPECT_EQ(out[2], 7.0f);
  EXPECT_EQ(out[3], 528.0f);
  EXPECT_EQ(out[4], 0.0f);
}

TEST(Matmul, OracleAddsToTheResidual) {
  HostTensor out = {10.0f, 20.0f, 30.0f, 40.0f};
  run({.dim = k_dim, .n_elements = k_dim, .n_out = 2, .out_stride = 2, .epilogue = Epilogue::add_residual}, 2,
      out);
  EXPECT_EQ(out[0], 538.0f);
  EXPECT_EQ(out[1], 20.0f);
  EXPECT_EQ(out[2], 34.0f);
  EXPECT_EQ(out[3], 39.0f);
}

TEST(Matmul, OracleOfAShareOfTheSum) {
  HostTensor out = {10.0f, 20.0f};
  run({.dim = k_dim,
       .first_element = 4,
       .n_elements = 3,
       .n_out = 2,
       .out_stride = 2,
       .epilogue = Epilogue::add_residual},
      1, out);
  EXPECT_EQ(out[0], 28.0f);  // 10 + 5 + 6 + 7
  EXPECT_EQ(out[1], 21.0f);
}

TEST(Matmul, OracleOfSwiglu) {
  HostTensor out = {7.0f, 7.0f};
  run({.dim = k_dim, .n_elements = k_dim, .n_out = 1, .out_stride = 1, .epilogue = Epilogue::swiglu}, 2, out);
  EXPECT_EQ(out[0], 0.0f);
  EXPECT_FLOAT_EQ(out[1], -3.9280552f);  // 4 / (1 + e^-4) * -1
}

TEST(Matmul, OracleOfTheLastRowReadsRowZero) {
  HostTensor out = {7.0f, 7.0f, 7.0f};
  run({.dim = k_dim,
       .n_elements = k_dim,
       .n_out = 2,
       .out_stride = 2,
       .epilogue = Epilogue::store,
       .rows = Rows::last},
      3, out);
  EXPECT_EQ(out[0], 528.0f);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], 7.0f);
}

}  // namespace
}  // namespace ztvm::kernels
