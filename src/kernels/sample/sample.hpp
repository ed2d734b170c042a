#pragma once
// Draws step.choice from softmax(logits / temperature) after top-k, top-p and min-p; see SamplerParams for the order.
// Nothing is sorted: every filter is a lowest weight w = exp((logit - max) / temperature), found by bisection over
// f32 bits. Ties at a limit are all kept; top-p keeps the token that reaches it; temperature 0 is argmax.
// Logits that are not finite, and those from n_valid on, are never chosen; without any other, the choice is 0.
// Four ops: maxima of slices; a cut below which no token survives the filters; the candidates above it; the draw.
// The random number depends on seed and n_chosen alone (pcg3d: Jarzynski and Olano 2020, section 4.2).
// Bytes moved: n_valid * 4 read twice, and 8 a candidate, some 60 times when top-k and top-p are on.
#include "kernels/step.hpp"

namespace ztvm::kernels {

// Elements of the tensors that the ops of a sampler hand on.
struct SampleSizes {
  std::size_t maxima = 0;      // u32
  std::size_t candidates = 0;  // f32 weights, and u32 indices
  std::size_t counts = 0;      // u32
  std::size_t masses = 0;      // f32
};
SampleSizes sample_sizes(std::uint32_t n_valid);

struct Sample {
  std::uint32_t n_valid = 0;  // logits that stand for tokens
  gpu::Tensor logits;         // [vocab] f32
  gpu::Tensor maxima;         // [slices, 4] u32, as argmax's candidates
  gpu::Tensor bounds;         // [2] f32: the largest logit, the cut
  gpu::Tensor weights;  // [slices, slice] f32: the weights of a slice's candidates, then zeros up to four
  gpu::Tensor indices;  // [slices, slice] u32: their tokens, ascending
  gpu::Tensor counts;   // [slices, 2] u32: candidates, logits that are not finite
  gpu::Tensor masses;   // [slices] f32: weight of all, for top-p without top-k; else 0
  gpu::Tensor step;     // Step: choice and n_not_finite are written
};

void sample(gpu::Recording& recording, const Sample& args);

// Logits of a slice: as many as one thread looks through.
std::uint32_t sample_slice(std::uint32_t n_valid);
// The number in [0, 1) that decides a draw.
float sample_random(const Step& step);

// The oracles, on bindings (maxima, step, bounds), (logits, bounds, step, weights, indices, counts, masses)
// and (weights, indices, counts, masses, step).
void sample_cut_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid);
void sample_candidates_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid);
void sample_draw_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid);

}  // namespace ztvm::kernels
