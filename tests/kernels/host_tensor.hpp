#pragma once
// Bindings in host memory, to call an oracle with numbers written in a test.
#include <initializer_list>
#include <vector>

#include "gpu/op.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

class HostTensor {
 public:
  HostTensor(gpu::Dtype dtype, std::size_t n) : bytes_(gpu::dtype_bytes(dtype, n)), dtype_(dtype) {}
  HostTensor(std::initializer_list<float> values) : HostTensor(gpu::Dtype::f32, values.size()) {
    std::size_t i = 0;
    for (const float value : values) view().store(i++, value);
  }
  explicit HostTensor(const Step& step) : HostTensor(gpu::Dtype::u32, sizeof(Step) / 4) {
    store_step(view(), step);
  }
  static HostTensor words(std::initializer_list<std::uint32_t> values) {
    HostTensor tensor(gpu::Dtype::u32, values.size());
    std::size_t i = 0;
    for (const std::uint32_t value : values) tensor.view().set_word(i++, value);
    return tensor;
  }

  gpu::HostView view() { return {bytes_, dtype_}; }
  float operator[](std::size_t i) { return view().load(i); }
  std::uint32_t word(std::size_t i) { return view().word(i); }

 private:
  std::vector<std::byte> bytes_;
  gpu::Dtype dtype_;
};

}  // namespace ztvm::kernels
