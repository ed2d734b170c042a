#include "kernels/stream_read/stream_read.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(StreamRead, OracleByHand) {
  HostTensor data = HostTensor::words({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048});
  HostTensor out = HostTensor::words({0, 0});
  stream_read_reference(std::array{data.view(), out.view()}, 3, 2, false);
  EXPECT_EQ(out.view().word(0), 15u + 3840u);
  EXPECT_EQ(out.view().word(1), 240u);
  stream_read_reference(std::array{data.view(), out.view()}, 3, 2, true);
  EXPECT_EQ(out.view().word(0), 255u);
  EXPECT_EQ(out.view().word(1), 3840u);
}

}  // namespace
}  // namespace ztvm::kernels
