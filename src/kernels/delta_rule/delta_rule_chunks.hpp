#pragma once
// The chunked form of the delta rule, for passes of many rows on GPUs (Yang et al. 2024, arXiv 2412.06464, section 3.3;
// transformers' torch_chunk_gated_delta_rule). Two ops: what the rows of each chunk mean to each other is prepared for
// all chunks at once, then one chunk after the other meets the state: a barrier a row becomes three a chunk.
// Prepare: one workgroup = one chunk of one value head. Chunks: one workgroup = 16 columns of a head's S (8 when keys
// are wide), kept in workgroup memory.
// Everything is f32. Bytes moved: S once read and written; qkv three times, that and the prepared blocks for each 16
// columns.
#include "kernels/delta_rule/delta_rule.hpp"

namespace ztvm::kernels {

// Elements of what is prepared for one chunk of `chunk` rows and one value head: two matrices, four factors of each
// row, and the decay of the whole chunk, four times.
constexpr std::uint32_t chunk_block_elements(std::uint32_t chunk) {
  return 2 * chunk * chunk + 4 * chunk + 4;
}

void delta_rule_chunks(gpu::Recording& recording, std::string_view name, const DeltaRule& args);

// The oracle of the first op, on bindings step, qkv, x, a_log, dt_bias, chunks [n_chunks, n_value_heads, block].
void delta_rule_prepare_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                                  std::uint32_t chunk);
// The oracle of the second op, on bindings step, qkv, chunks, state, out.
void delta_rule_chunks_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                                 std::uint32_t chunk);

}  // namespace ztvm::kernels
