#pragma once
// From a header to the plan of a model: numbers, every buffer with its bytes, uploads. Nothing is allocated.
#include <cstddef>
#include <cstdint>

#include "gpu/target.hpp"
#include "load/gguf.hpp"
#include "model/decoder.hpp"
#include "model/families/registry.hpp"
#include "model/weights.hpp"

namespace ztvm::engine {

struct LoadOptions {
  std::uint32_t context = 0;   // 0: the model's own, at most default_context()
  std::uint32_t max_rows = 0;  // rows of a prefill chunk; 0: chosen for the target
  gpu::Target target;
};
// Tokens that fit unless more are asked for: 4096, on a CPU 2048, whose memory the cache shares with everything else.
constexpr std::uint32_t default_context(const gpu::Target& target) { return target.cpu ? 2048 : 4096; }

// What a header says, before any buffer is made: for inspect, and for refusing early.
struct ModelPlan {
  load::GgufFile file;
  model::Family family;
  std::uint32_t context = 0;
  model::Buffers buffers;
  model::ModelWeights weights;
  model::Decoder decoder;
};
// Errors: whatever is wrong with the header, an architecture that is not known, a context out of range.
// `n_tokenizer_ids`: ids that the tokenizer knows; embedding rows beyond are never chosen.
Result<ModelPlan> plan_model(load::GgufFile file, std::size_t n_tokenizer_ids, const gpu::Caps& caps,
                             const LoadOptions& options);

}  // namespace ztvm::engine
