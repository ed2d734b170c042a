#include "kernels/attention/attention.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

// Four query heads of 4 elements over two kv heads; positions 0 and 1, in page 1.
struct Cache {
  HostTensor pages = HostTensor::words({1});
  HostTensor keys = HostTensor(gpu::Dtype::f32, 2 * 2 * 16 * 4);
  HostTensor values = HostTensor(gpu::Dtype::f32, 2 * 2 * 16 * 4);

  static std::size_t at(std::size_t kv_head, std::size_t slot) { return ((1 * 2 + kv_head) * 16 + slot) * 4; }
};

constexpr AttentionShape k_shape = {.n_heads = 4, .n_kv_heads = 2, .head_dim = 4};
constexpr float k_ln2 = 0.69314718f;

TEST(Attention, OracleByHand) {
  Cache cache;
  // Head 1's scores are 2 ln2 / sqrt(4) = ln2 and 0: weights 2/3 and 1/3. Head 0's query is 0: equal weights.
  cache.keys.view().store(Cache::at(0, 0), k_ln2);
  cache.values.view().store(Cache::at(0, 0), 3.0f);
  cache.values.view().store(Cache::at(0, 1), 6.0f);
  // Heads 2 and 3 read kv head 1. Position 2 is in the future.
  cache.values.view().store(Cache::at(1, 0) + 3, 10.0f);
  cache.values.view().store(Cache::at(1, 1) + 3, 20.0f);
  cache.values.view().store(Cache::at(1, 2) + 3, 1e6f);
  HostTensor step(Step{.n_rows = 1, .position = 1});
  HostTensor q(gpu::Dtype::f32, 16);
  q.view().store(4, 2.0f);
  HostTensor out(gpu::Dtype::f32, 16);
  attention_reference(std::array{step.view(), q.view(), cache.keys.view(), cache.values.view(),
                                 cache.pages.view(), out.view()},
                      k_shape);
  EXPECT_FLOAT_EQ(out[0], 4.5f);
  EXPECT_FLOAT_EQ(out[4], 4.0f);
  EXPECT_FLOAT_EQ(out[8 + 3], 15.0f);
  EXPECT_FLOAT_EQ(out[12 + 3], 15.0f);
  EXPECT_EQ(out[1], 0.0f);
}

TEST(Attention, OracleIsCausal) {
  Cache cache;
  for (std::size_t slot = 0; slot < 3; ++slot) {
    cache.values.view().store(Cache::at(0, slot), static_cast<float>(slot + 1));
  }
  HostTensor step(Step{.n_rows = 3, .position = 0});
  HostTensor q(gpu::Dtype::f32, 3 * 16);
  HostTensor out(gpu::Dtype::f32, 3 * 16);
  attention_reference(std::array{step.view(), q.view(), cache.keys.view(), cache.values.view(),
                                 cache.pages.view(), out.view()},
                      k_shape);
  EXPECT_FLOAT_EQ(out[0], 1.0f);
  EXPECT_FLOAT_EQ(out[16], 1.5f);
  EXPECT_FLOAT_EQ(out[32], 2.0f);
}

TEST(Attention, OracleOfLargeScoresIsFinite) {
  Cache cache;
  cache.keys.view().store(Cache::at(0, 0), 1e4f);
  cache.keys.view().store(Cache::at(0, 1), -1e4f);
  cache.values.view().store(Cache::at(0, 0), 5.0f);
  HostTensor step(Step{.n_rows = 1, .position = 1});
  HostTensor q(gpu::Dtype::f32, 16);
  q.view().store(0, 1e4f);
  HostTensor out(gpu::Dtype::f32, 16);
  attention_reference(std::array{step.view(), q.view(), cache.keys.view(), cache.values.view(),
                                 cache.pages.view(), out.view()},
                      k_shape);
  EXPECT_EQ(out[0], 5.0f);
}

}  // namespace
}  // namespace ztvm::kernels
