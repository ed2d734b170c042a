#include "kernels/expert_matmul/expert_matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpu/executor.hpp"
#include "kernels/group_experts/group_experts.hpp"
#include "kernels/host_tensor.hpp"
#include "kernels/run_cases.hpp"

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

// The same product by slot and by group, read back from the device.
std::array<std::vector<float>, 2> run_both_forms(gpu::Device& device, const gpu::Target& target,
                                                 bool gate_up) {
  constexpr std::uint32_t k_rows = 21;
  constexpr std::uint32_t k_experts = 6;
  constexpr std::uint32_t k_top_k = 3;
  constexpr std::uint32_t k_columns = 40;
  CaseBuilder builder(device, target, 5);
  gpu::Recording recording = {.target = target, .max_rows = k_rows, .ops = {}};
  const std::uint32_t expert_rows = gate_up ? 2 * k_columns : k_columns;
  const Matrix weights =
      builder.matrix(QuantKind::q4, k_experts * expert_rows, 160, Fill::normal, 2, expert_rows);
  ExpertMatmul args = {.weights = weights,
                       .n_experts = k_experts,
                       .top_k = k_top_k,
                       .epilogue = gate_up ? Epilogue::swiglu : Epilogue::store_f32,
                       .input = gate_up ? ExpertInput::rows : ExpertInput::pairs,
                       .step = builder.step({.n_rows = k_rows}),
                       .x = builder.tensor(builder.activation(), k_rows * k_top_k * 160, Fill::normal),
                       .ids = builder.expert_ids(k_rows, k_top_k, k_experts),
                       .groups = std::nullopt,
                       .out = {}};
  const ExpertGroups groups = {.offsets = builder.stale_words(k_experts + 1),
                               .order = builder.stale_words(k_rows * k_top_k)};
  group_experts(recording, "group",
                {.n_experts = k_experts,
                 .top_k = k_top_k,
                 .step = args.step,
                 .ids = args.ids,
                 .offsets = groups.offsets,
                 .order = groups.order});
  std::array<gpu::Tensor, 2> outs;
  for (gpu::Tensor& out : outs) {
    out = builder.tensor(gate_up ? builder.activation() : gpu::Dtype::f32, k_rows * k_top_k * k_columns,
                         Fill::normal);
    args.out = out;
    expert_matmul(recording, "experts", args);
    args.groups = groups;
  }
  const auto executor = gpu::make_gpu_executor(device);
  executor->run(executor->add(std::move(recording)), k_rows);
  EXPECT_TRUE(executor->flush());
  std::array<std::vector<float>, 2> values;
  for (std::size_t i = 0; i < 2; ++i) {
    auto bytes = gpu::read_now(device, outs[i].buffer, 0, gpu::k_whole_buffer);
    if (!bytes) return values;
    const gpu::HostView view = {*bytes, outs[i].dtype};
    for (std::size_t j = 0; j < view.n_elements(); ++j) values[i].push_back(view.load(j));
  }
  return values;
}

TEST(ExpertMatmul, FormsAgree) {
  gpu::Device* device = test_device();
  ASSERT_NE(device, nullptr) << "no adapter is found";
  for (const gpu::Target& target : test_targets(*device)) {
    for (const bool gate_up : {false, true}) {
      SCOPED_TRACE(gpu::describe(target));
      const auto [by_slot, by_group] = run_both_forms(*device, target, gate_up);
      ASSERT_EQ(by_slot.size(), 21u * 3u * 40u);
      ASSERT_EQ(by_group.size(), by_slot.size());
      const float tolerance = 4.0f * gpu::sum_tolerance(160, target.f16 ? gpu::Dtype::f16 : gpu::Dtype::f32);
      for (std::size_t i = 0; i < by_slot.size(); ++i) {
        ASSERT_NEAR(by_slot[i], by_group[i], tolerance * (1.0f + std::fabs(by_slot[i]))) << i;
      }
    }
  }
}

TEST(ExpertMatmul, CasesMatch) { expect_cases_match("expert_matmul"); }

}  // namespace
}  // namespace ztvm::kernels
