#include "kernels/group_experts/group_experts.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(GroupExperts, OracleByHand) {
  // Three rows of two pairs; the pass has two of them, and nobody chooses expert 2.
  HostTensor step(Step{.n_rows = 2});
  HostTensor ids = HostTensor::words({3, 0, 1, 3, 0, 1});
  HostTensor offsets = HostTensor::words({9, 9, 9, 9, 9});
  HostTensor order = HostTensor::words({9, 9, 9, 9, 9, 9});
  group_experts_reference(std::array{step.view(), ids.view(), offsets.view(), order.view()}, 4, 2);
  const auto words = [](HostTensor& tensor) {
    std::vector<std::uint32_t> values;
    for (std::size_t i = 0; i < tensor.view().n_elements(); ++i) values.push_back(tensor.word(i));
    return values;
  };
  EXPECT_EQ(words(offsets), (std::vector<std::uint32_t>{0, 1, 2, 2, 4}));
  EXPECT_EQ(words(order), (std::vector<std::uint32_t>{1, 2, 0, 3, 9, 9}));
}

}  // namespace
}  // namespace ztvm::kernels
