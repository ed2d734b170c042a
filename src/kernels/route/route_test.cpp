#include "kernels/route/route.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

struct Routed {
  HostTensor ids;
  HostTensor weights;
};

Routed run(HostTensor logits, std::uint32_t n_rows, const RouteShape& shape) {
  const std::size_t n = std::size_t{n_rows} * shape.top_k;
  Routed routed = {HostTensor(gpu::Dtype::u32, n), HostTensor(gpu::Dtype::f32, n)};
  HostTensor step(Step{.n_rows = n_rows});
  route_reference(std::array{step.view(), logits.view(), routed.ids.view(), routed.weights.view()}, shape);
  return routed;
}

TEST(Route, OracleByHand) {
  // Row 0: weights 3 / 4 and 1 / 4 of the two largest. Row 1: the last column is no expert.
  const float log3 = std::log(3.0f);
  Routed r =
      run({0.0f, log3, -1.0f, 9.0f, 2.0f, 0.0f, 2.0f, 9.0f}, 2, {.n_experts = 3, .top_k = 2, .stride = 4});
  EXPECT_EQ(r.ids.word(0), 1u);
  EXPECT_EQ(r.ids.word(1), 0u);
  EXPECT_FLOAT_EQ(r.weights[0], 0.75f);
  EXPECT_FLOAT_EQ(r.weights[1], 0.25f);
  EXPECT_EQ(r.ids.word(2), 0u) << "the lower of equals";
  EXPECT_EQ(r.ids.word(3), 2u);
  EXPECT_FLOAT_EQ(r.weights[2], 0.5f);
}

TEST(Route, OracleEqualsSoftmaxOverAllRenormalised) {
  const std::vector<float> logits = {0.3f, -2.0f, 1.7f, 0.9f, -0.4f};
  double all = 0.0;
  for (const float logit : logits) all += std::exp(double{logit});
  const double p2 = std::exp(double{1.7f}) / all;
  const double p3 = std::exp(double{0.9f}) / all;
  Routed r = run({0.3f, -2.0f, 1.7f, 0.9f, -0.4f}, 1, {.n_experts = 5, .top_k = 2, .stride = 5});
  EXPECT_EQ(r.ids.word(0), 2u);
  EXPECT_EQ(r.ids.word(1), 3u);
  EXPECT_FLOAT_EQ(r.weights[0], static_cast<float>(p2 / (p2 + p3)));
  EXPECT_FLOAT_EQ(r.weights[1], static_cast<float>(p3 / (p2 + p3)));
}

TEST(Route, OracleRanksWhatIsNotFiniteLast) {
  Routed r = run({k_nan, k_infinity, -3e38f, 1.0f}, 1, {.n_experts = 4, .top_k = 3, .stride = 4});
  EXPECT_EQ(r.ids.word(0), 3u);
  EXPECT_EQ(r.ids.word(1), 2u);
  EXPECT_EQ(r.ids.word(2), 0u);
  EXPECT_EQ(r.weights[0], 1.0f);
  Routed none = run({k_nan, k_infinity}, 1, {.n_experts = 2, .top_k = 2, .stride = 2});
  EXPECT_EQ(none.ids.word(0), 0u);
  EXPECT_EQ(none.ids.word(1), 1u);
  EXPECT_EQ(none.weights[1], 0.5f);
}

}  // namespace
}  // namespace ztvm::kernels
