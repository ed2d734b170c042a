// All forms of the experts' product give the same on the adapter.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/executor.hpp"
#include "kernels/case_builder.hpp"
#include "kernels/expert_matmul/expert_matmul.hpp"
#include "kernels/group_experts/group_experts.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

// The same product by slot, by group and by group in whole numbers (on a CPU adapter by group again), read back.
std::array<std::vector<float>, 3> run_forms(gpu::Device& device, const gpu::Target& target, bool gate_up) {
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
  std::array<gpu::Tensor, 3> outs;
  for (std::size_t i = 0; i < outs.size(); ++i) {
    outs[i] = builder.tensor(gate_up ? builder.activation() : gpu::Dtype::f32, k_rows * k_top_k * k_columns,
                             Fill::normal);
    args.out = outs[i];
    if (i > 0) args.groups = groups;
    if (i > 1) args.quantised = builder.quantised_input(k_rows, (gate_up ? 1 : k_top_k) * 160);
    expert_matmul(recording, "experts", args);
  }
  const auto executor = gpu::make_gpu_executor(device);
  executor->run(executor->add(std::move(recording)), k_rows);
  EXPECT_TRUE(executor->flush());
  std::array<std::vector<float>, 3> values;
  for (std::size_t i = 0; i < outs.size(); ++i) {
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
  for (const gpu::Target& target : test_targets(*device, true)) {
    for (const bool gate_up : {false, true}) {
      SCOPED_TRACE(gpu::describe(target));
      const auto [by_slot, by_group, integer] = run_forms(*device, target, gate_up);
      ASSERT_EQ(by_slot.size(), 21u * 3u * 40u);
      ASSERT_EQ(by_group.size(), by_slot.size());
      ASSERT_EQ(integer.size(), by_slot.size());
      const float tolerance = 4.0f * gpu::sum_tolerance(160, target.f16 ? gpu::Dtype::f16 : gpu::Dtype::f32);
      // Of whole numbers: those of x, which a pair of matrices takes twice, and with 8 bits are 256 times as coarse.
      const float step = 2.0f * k_row_bytes_tolerance * (target.int8 ? 256.0f : 1.0f);
      for (std::size_t i = 0; i < by_slot.size(); ++i) {
        ASSERT_NEAR(by_slot[i], by_group[i], tolerance * (1.0f + std::fabs(by_slot[i]))) << i;
        ASSERT_NEAR(by_slot[i], integer[i], (tolerance + step) * (1.0f + std::fabs(by_slot[i]))) << i;
      }
    }
  }
}

}  // namespace
}  // namespace ztvm::kernels
