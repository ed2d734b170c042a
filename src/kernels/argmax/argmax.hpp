#pragma once
// Greedy choice: step.choice = index of the largest finite logit, the lowest index among equals.
// Two ops: one thread a block of logits, then one thread over the blocks. Counts logits that are not finite.
// Bytes moved: n_valid * 4.
#include "kernels/step.hpp"

namespace ztvm::kernels {

// Logits one thread looks through; candidates need div_up(n_valid, block) elements of 16 bytes.
inline constexpr std::uint32_t k_argmax_block = 64;

struct Argmax {
  std::uint32_t n_valid = 0;  // logits that stand for tokens; rows beyond the tokenizer are never chosen
  gpu::Tensor logits;         // [vocab] f32
  gpu::Tensor candidates;     // [div_up(n_valid, k_argmax_block), 4] u32
  gpu::Tensor step;           // Step: choice and n_not_finite are written
};

void argmax(gpu::Recording& recording, const Argmax& args);

// The first op alone: the largest of each block.
struct BlockMaxima {
  std::string_view name;
  std::uint32_t n_valid = 0;
  std::uint32_t block = 0;
  gpu::Tensor logits;  // [vocab] f32
  gpu::Tensor
      candidates;  // [div_up(n_valid, block), 4] u32: value bits, index, logits that are not finite, 0
};
void find_block_maxima(gpu::Recording& recording, const BlockMaxima& args);

// The oracles, on bindings (logits, candidates) and (candidates, step).
void block_maxima_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid, std::uint32_t block);
void argmax_final_reference(std::span<const gpu::HostView> views, std::uint32_t n_blocks);

}  // namespace ztvm::kernels
