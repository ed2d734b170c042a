#pragma once
// From headers and configs to the plan of a model: numbers, every buffer with its bytes, uploads. Nothing is allocated.
#include <cstddef>
#include <cstdint>

#include "engine/engine.hpp"
#include "engine/text_parts.hpp"
#include "gpu/target.hpp"
#include "load/model_files.hpp"
#include "model/decoder.hpp"
#include "model/families/registry.hpp"
#include "model/weight_plan.hpp"

namespace ztvm::engine {

struct LoadOptions {
  std::uint32_t context = 0;   // 0: the model's own, at most default_context()
  std::uint32_t max_rows = 0;  // rows of a prefill chunk; 0: chosen for the target
  gpu::Target target;
  model::KvType kv = model::KvType::floats;
};
// Tokens that fit unless more are asked for: 4096, on a CPU 2048, whose memory the cache shares with everything else.
constexpr std::uint32_t default_context(const gpu::Target& target) { return target.cpu ? 2048 : 4096; }

// What the headers and configs of a model say.
struct ModelHead {
  load::Checkpoint checkpoint;
  model::Family family;
  TextParts text;
};
// Errors: an architecture that is not known, a field that is missing or out of range, a tokenizer that is not known.
Result<ModelHead> read_model_head(load::ModelFiles files);

// Before any buffer is made: for inspect, and for refusing early.
struct ModelPlan {
  model::Family family;
  std::uint32_t context = 0;
  model::Buffers buffers;
  model::WeightPlan weights;
  model::Decoder decoder;
  MemoryPlan memory;
};
// `n_tokenizer_ids`: ids that the tokenizer knows; embedding rows beyond are never chosen.
// Errors: a tensor that is missing, misshapen or left over; a context that the model or the adapter cannot hold, and any buffer
// above the adapter's limits, with both numbers.
Result<ModelPlan> plan_model(model::Family family, const load::Checkpoint& checkpoint,
                             std::size_t n_tokenizer_ids, const gpu::Caps& caps, const LoadOptions& options);

// Bytes of a weight buffer that one decoded token reads: none of the embedding, unless it is the head too, and of experts
// the chosen ones.
std::uint64_t decode_bytes(const model::PlannedBuffer& buffer, const model::ModelSpec& spec);

// Writes what kernels look up: the page table, in order, and the angles of RoPE.
void write_tables(gpu::Device& device, const model::Decoder& decoder, const model::Buffers& buffers);

}  // namespace ztvm::engine
