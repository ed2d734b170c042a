#include "kernels/expert_matmul/expert_matmul.hpp"

#include <gtest/gtest.h>

#include "kernels/group_experts/group_experts.hpp"
#include "kernels/host_tensor.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

constexpr std::uint32_t k_dim = 32;

// `n_rows` rows of 32, row i all i + 1.
HostTensor rows_of_numbers(std::size_t n_rows) {
  HostTensor rows(gpu::Dtype::f32, n_rows * k_dim);
  for (std::size_t i = 0; i < n_rows * k_dim; ++i) rows.view().store(i, static_cast<float>(i / k_dim + 1));
  return rows;
}

// Three experts of two weight rows each, two of them a row; expert e has weights 2e + 1 and 2e + 2. The part begins
// at `first_expert`.
void run(ExpertMatmulShape shape, HostTensor x, std::vector<HostTensor> choice, HostTensor& out) {
  HostTensor weights = rows_of_numbers(6);
  HostTensor step(Step{.n_rows = 2});
  shape.dim = k_dim;
  shape.top_k = 2;
  const gpu::HostView all = {weights.view().bytes, gpu::Dtype::u32};
  const std::size_t row_bytes = k_dim * 4;
  const gpu::HostView words = {all.bytes.subspan(2 * shape.first_expert * row_bytes), gpu::Dtype::u32};
  std::vector<gpu::HostView> views = {words, words, step.view(), x.view(), out.view()};
  for (HostTensor& tensor : choice) views.push_back(tensor.view());
  expert_matmul_reference(views, shape);
}

TEST(ExpertMatmul, OracleByHand) {
  HostTensor out = {7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f};
  run({.n_out = 2, .n_experts = 3}, rows_of_numbers(2), {HostTensor::words({2, 0, 1, 2})}, out);
  EXPECT_EQ(out[0], 160.0f);  // 32 * 1 * 5
  EXPECT_EQ(out[1], 192.0f);
  EXPECT_EQ(out[2], 32.0f);
  EXPECT_EQ(out[3], 64.0f);
  EXPECT_EQ(out[4], 192.0f);  // 32 * 2 * 3
  EXPECT_EQ(out[7], 384.0f);
}

TEST(ExpertMatmul, OracleOfAPartLeavesOtherExperts) {
  HostTensor out = {7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f};
  run({.n_out = 2, .first_expert = 1, .n_experts = 1}, rows_of_numbers(2), {HostTensor::words({2, 0, 1, 2})},
      out);
  EXPECT_EQ(out[3], 7.0f);
  EXPECT_EQ(out[4], 192.0f);
  EXPECT_EQ(out[5], 256.0f);
  EXPECT_EQ(out[6], 7.0f);
}

TEST(ExpertMatmul, OracleByGroupOfPairs) {
  // Expert 0 has pair 1, expert 1 pair 2, expert 2 pairs 0 and 3; x has a row a pair.
  HostTensor out = {7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f, 7.0f};
  run({.n_out = 2, .n_experts = 3, .input = ExpertInput::pairs, .by_group = true}, rows_of_numbers(4),
      {HostTensor::words({0, 1, 2, 4}), HostTensor::words({1, 2, 0, 3})}, out);
  EXPECT_EQ(out[0], 160.0f);
  EXPECT_EQ(out[2], 64.0f);   // 32 * 2 * 1
  EXPECT_EQ(out[4], 288.0f);  // 32 * 3 * 3
  EXPECT_EQ(out[7], 768.0f);  // 32 * 4 * 6
}

TEST(ExpertMatmul, OracleOfSwiglu) {
  HostTensor x(gpu::Dtype::f32, 2 * k_dim);
  x.view().store(0, 1.0f);
  x.view().store(k_dim, -1.0f);
  HostTensor out = {7.0f, 7.0f, 7.0f, 7.0f};
  run({.n_out = 1, .n_experts = 3, .epilogue = Epilogue::swiglu}, std::move(x),
      {HostTensor::words({1, 0, 0, 2})}, out);
  EXPECT_FLOAT_EQ(out[0], static_cast<float>(3.0 / (1.0 + std::exp(-3.0)) * 4.0));
  EXPECT_FLOAT_EQ(out[1], static_cast<float>(1.0 / (1.0 + std::exp(-1.0)) * 2.0));
  EXPECT_FLOAT_EQ(out[2], static_cast<float>(-1.0 / (1.0 + std::exp(1.0)) * -2.0));
}

TEST(ExpertMatmul, FormsAreChosenByPairsOfAnExpert) {
  EXPECT_FALSE(should_group_experts(1, 256, 8));
  EXPECT_FALSE(should_group_experts(1, 4, 4)) << "a row has different experts";
  EXPECT_FALSE(should_group_experts(31, 256, 8));
  EXPECT_TRUE(should_group_experts(32, 256, 8));
}

}  // namespace
}  // namespace ztvm::kernels
