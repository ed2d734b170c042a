#include "model/blocks/attention.hpp"

#include <fmt/format.h>

#include "kernels/attention/attention.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/rms_norm/rms_norm.hpp"
#include "kernels/rope_kv/rope_kv.hpp"

namespace ztvm::model {

void record_attention(gpu::Recording& recording, std::uint32_t layer, const ModelSpec& spec,
                      const AttentionSpec& attention, const LayerWeights& weights,
                      const AttentionBuffers& buffers) {
  const auto name = [layer](std::string_view op) { return fmt::format("layer {} {}", layer, op); };
  const kernels::AttentionShape shape = {
      .n_heads = attention.n_heads, .n_kv_heads = attention.n_kv_heads, .head_dim = attention.head_dim};
  kernels::rms_norm(recording, name("attention norm"),
                    {.dim = spec.dim,
                     .eps = spec.rms_eps,
                     .step = buffers.step,
                     .x = buffers.x,
                     .weight = weights.mixer_norm,
                     .out = buffers.normed});
  kernels::matmul(recording, name("qkv"),
                  {.weights = weights.qkv, .step = buffers.step, .x = buffers.normed, .out = buffers.qkv});
  kernels::rope_kv(recording, name("rope and cache write"),
                   {.shape = shape,
                    .n_rotated = attention.n_rotated,
                    .step = buffers.step,
                    .qkv = buffers.qkv,
                    .rope = buffers.rope,
                    .pages = buffers.pages,
                    .q = buffers.q,
                    .keys = buffers.keys,
                    .values = buffers.values});
  kernels::attention(recording, name("attention"),
                     {.shape = shape,
                      .step = buffers.step,
                      .q = buffers.q,
                      .keys = buffers.keys,
                      .values = buffers.values,
                      .pages = buffers.pages,
                      .out = buffers.mixed});
  kernels::matmul(recording, name("attention output"),
                  {.weights = weights.output,
                   .epilogue = kernels::Epilogue::add_residual,
                   .step = buffers.step,
                   .x = buffers.mixed,
                   .out = buffers.x});
}

}  // namespace ztvm::model
