#include "engine/model_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/attention_shape.hpp"
#include "kernels/rope_kv/rope_kv.hpp"
#include "model/leftover.hpp"

namespace ztvm::engine {
namespace {

// Rows of a prefill chunk: long enough to share each weight read, short enough to stop and to draw between. On a CPU
// the matrix kernels are bound by arithmetic, and a row by itself gets the fastest of them.
std::uint32_t default_max_rows(const gpu::Target& target) { return target.cpu ? 1 : 512; }

// Bytes that the largest per-layer buffer and the rope table take for each token of context.
std::uint64_t largest_bytes_per_token(const model::ModelSpec& spec, const LoadOptions& options) {
  const gpu::Dtype cache = model::kv_dtype(options.kv, options.target);
  std::uint64_t most = std::uint64_t{spec.n_rotated()} * sizeof(float);
  for (const model::LayerSpec& layer : spec.layers) {
    if (const auto* attention = std::get_if<model::AttentionSpec>(&layer.mixer)) {
      const kernels::AttentionShape shape = {.n_heads = attention->n_heads,
                                             .n_kv_heads = attention->n_kv_heads,
                                             .head_dim = attention->head_dim};
      const std::uint64_t page = gpu::dtype_bytes(cache, kernels::cache_elements(shape, cache, 1));
      most = std::max(most, page / kernels::k_page_slots);
    }
  }
  return most;
}

std::uint32_t max_context(const model::ModelSpec& spec, const LoadOptions& options,
                          std::uint64_t binding_limit) {
  const std::uint64_t per_token = largest_bytes_per_token(spec, options);
  if (per_token == 0) return spec.max_context;
  const std::uint64_t fitting = binding_limit / per_token / kernels::k_page_slots * kernels::k_page_slots;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(spec.max_context, fitting));
}

Result<std::uint32_t> choose_context(const LoadOptions& options, const model::ModelSpec& spec,
                                     std::uint32_t most, std::string_view name, std::uint64_t binding_limit) {
  const std::uint32_t asked = options.context;
  if (asked == 0 && most > 0) return std::min(most, default_context(options.target));
  if (asked > spec.max_context) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("A context of {} tokens is asked for, but {} was trained for {}.", asked, name,
                            spec.max_context));
  }
  if (asked <= most && most > 0) return asked;
  return fail(
      ErrorCode::out_of_memory,
      fmt::format("A context of {} tokens takes {} bytes in one buffer, but the adapter binds at most {}; "
                  "{} tokens would fit.",
                  std::max(asked, kernels::k_page_slots),
                  largest_bytes_per_token(spec, options) * std::max(asked, kernels::k_page_slots),
                  binding_limit, most));
}

Result<void> check_limits(const model::Buffers& buffers, std::uint64_t binding_limit) {
  for (const model::PlannedBuffer& buffer : buffers.planned()) {
    if (buffer.n_bytes <= binding_limit) continue;
    return fail(
        ErrorCode::out_of_memory,
        fmt::format("The model needs {} bytes for \"{}\" in one buffer, but the adapter binds at most {}.",
                    buffer.n_bytes, buffer.label, binding_limit));
  }
  return {};
}

MemoryPlan memory_plan(const ModelPlan& plan, std::uint32_t max_context) {
  using model::BufferRole;
  MemoryPlan memory = {.weights_bytes = plan.buffers.total_bytes(BufferRole::weights),
                       .kv_cache_bytes = plan.buffers.total_bytes(BufferRole::kv_cache),
                       .state_bytes = plan.buffers.total_bytes(BufferRole::state),
                       .scratch_bytes = plan.buffers.total_bytes(BufferRole::scratch),
                       .largest_buffer_bytes = 0,
                       .context = plan.context,
                       .max_context = max_context,
                       .read_bytes = 0};
  for (const model::PlannedBuffer& buffer : plan.buffers.planned()) {
    memory.largest_buffer_bytes = std::max(memory.largest_buffer_bytes, buffer.n_bytes);
    memory.decode_weights_bytes += decode_bytes(buffer, plan.family.spec);
  }
  for (const load::UploadStep& step : plan.weights.steps()) memory.read_bytes += step.n_bytes();
  return memory;
}

}  // namespace

std::uint64_t decode_bytes(const model::PlannedBuffer& buffer, const model::ModelSpec& spec) {
  if (buffer.role != model::BufferRole::weights) return 0;
  if (buffer.label.starts_with("embedding") && !spec.tied_head) return 0;
  if (buffer.label.find(" experts ") == std::string::npos) return buffer.n_bytes;
  double chosen_share = 1.0;
  for (const model::LayerSpec& layer : spec.layers) {
    if (const auto* moe = std::get_if<model::MoeSpec>(&layer.ffn)) {
      chosen_share = static_cast<double>(moe->n_active) / moe->n_experts;
    }
  }
  return static_cast<std::uint64_t>(chosen_share * static_cast<double>(buffer.n_bytes));
}

Result<ModelPlan> plan_model(model::Family family, const load::Checkpoint& checkpoint,
                             std::size_t n_tokenizer_ids, const gpu::Caps& caps, const LoadOptions& options) {
  model::ModelSpec& spec = family.spec;
  spec.n_valid_ids = static_cast<std::uint32_t>(std::min<std::size_t>(spec.n_valid_ids, n_tokenizer_ids));
  const std::uint64_t binding_limit = std::min(caps.max_binding_bytes, caps.max_buffer_bytes);
  const std::uint32_t most = max_context(spec, options, binding_limit);
  auto context = choose_context(options, spec, most, checkpoint.name, binding_limit);
  if (!context) return forward(context);

  ModelPlan plan;
  plan.context = *context;
  model::WeightPlan::Builder builder(checkpoint, binding_limit, plan.buffers);
  model::ModelWeights weights = model::plan_weights(builder, family.names, spec);
  auto planned = builder.finish();
  if (!planned) return forward(planned);
  if (auto used = model::check_all_used(checkpoint, planned->steps(), family); !used) return forward(used);
  plan.weights = std::move(*planned);
  const std::uint32_t max_rows = options.max_rows != 0 ? options.max_rows : default_max_rows(options.target);
  plan.decoder = model::Decoder::plan(spec, std::move(weights),
                                      {.context = *context,
                                       .max_rows = std::min(max_rows, *context),
                                       .target = options.target,
                                       .limits = gpu::limits_of(caps),
                                       .kv = options.kv},
                                      plan.buffers);
  if (auto fits = check_limits(plan.buffers, binding_limit); !fits) return forward(fits);
  plan.family = std::move(family);
  plan.memory = memory_plan(plan, most);
  return plan;
}

void write_tables(gpu::Device& device, const model::Decoder& decoder, const model::Buffers& buffers) {
  const model::State state = decoder.state(buffers);
  std::vector<std::uint32_t> pages(decoder.n_pages());
  std::iota(pages.begin(), pages.end(), 0u);
  device.write(state.pages.buffer, 0, as_bytes(pages));
  const std::uint32_t n_rotated = decoder.spec().n_rotated();
  if (n_rotated == 0) return;
  device.write(state.rope.buffer, 0,
               as_bytes(kernels::rope_table(decoder.options().context, n_rotated, decoder.spec().rope_theta,
                                            decoder.spec().rope_factors)));
}

}  // namespace ztvm::engine
