#include "engine/model_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ztvm::engine {
namespace {

// Rows of a prefill chunk: long enough to share each weight read, short enough to stop and to draw between. On a CPU
// the matrix kernels are bound by arithmetic, and a row by itself gets the fastest of them.
std::uint32_t default_max_rows(const gpu::Target& target) { return target.cpu ? 1 : 128; }

Result<std::uint32_t> choose_context(const LoadOptions& options, const model::ModelSpec& spec,
                                     std::string_view name) {
  const std::uint32_t asked = options.context;
  if (asked == 0) return std::min(spec.max_context, default_context(options.target));
  if (asked <= spec.max_context) return asked;
  return fail(ErrorCode::invalid_argument,
              fmt::format("A context of {} tokens is asked for, but {} was trained for {}.", asked, name,
                          spec.max_context));
}

}  // namespace

Result<ModelPlan> plan_model(load::GgufFile file, std::size_t n_tokenizer_ids, const gpu::Caps& caps,
                             const LoadOptions& options) {
  auto family = model::family_from_gguf(file);
  if (!family) return forward(family);
  family->spec.n_valid_ids =
      static_cast<std::uint32_t>(std::min<std::size_t>(family->spec.vocab, n_tokenizer_ids));
  auto context = choose_context(options, family->spec, file.checkpoint.name);
  if (!context) return forward(context);
  ModelPlan plan = {.file = std::move(file),
                    .family = std::move(*family),
                    .context = *context,
                    .buffers = {},
                    .weights = {},
                    .decoder = {}};
  const std::uint64_t binding_limit = std::min(caps.max_binding_bytes, caps.max_buffer_bytes);
  auto weights = model::ModelWeights::plan(plan.family.names, plan.family.spec, plan.file.checkpoint,
                                           binding_limit, plan.buffers);
  if (!weights) return forward(weights);
  plan.weights = std::move(*weights);
  const std::uint32_t max_rows = options.max_rows != 0 ? options.max_rows : default_max_rows(options.target);
  plan.decoder = model::Decoder::plan(
      plan.family.spec,
      {.context = *context, .max_rows = std::min(max_rows, *context), .target = options.target},
      plan.buffers);
  return plan;
}

}  // namespace ztvm::engine
