#pragma once
// The JSON that web/engine.ts passes in, checked and turned into the engine's plain structs.
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.hpp"
#include "engine/engine.hpp"
#include "web/bench.hpp"

namespace ztvm::web {

// What a generation starts from: a chat, token ids, or text that is continued as it is.
using Prompt = std::variant<std::vector<engine::Message>, std::vector<std::uint32_t>, std::string>;

struct GenerateRequest {
  Prompt prompt;
  engine::GenerateOptions options;
};

// {"adapter", "driver", "kind", "compiler", "f16", "subgroups", "subgroup_min", "max_buffer_bytes", ...}: the
// fields of gpu::Caps; every one is required. Errors: invalid_argument, naming the field.
Result<gpu::Caps> parse_caps(std::string_view text);

// {"context"?, "lockstep"?, "kv"?: "float" | "int8", "kernels"?: a set in place of the chosen one, "autotune"?: "off" | "auto" | "on", "tuning"?: what ztvm_tuning() gave
// before}. The target is set. Errors: invalid_argument, naming the field.
Result<engine::EngineOptions> parse_engine_options(const gpu::Caps& caps, std::string_view text);

// {"messages" | "ids" | "text", "temperature"?, "top_k"?, "top_p"?, "min_p"?, "repeat_penalty"?, "seed"?,
// "max_tokens"?, "ignore_eos"?}. Errors: invalid_argument, naming the field; the ranges of the sampler are
// checked.
Result<GenerateRequest> parse_generate_request(std::string_view text);

struct ProbeRequest {
  std::vector<std::uint32_t> ids;
  bool hidden = false;  // hidden states after each layer, besides logits
};
// {"ids", "hidden"?}. Errors: invalid_argument, naming the field.
Result<ProbeRequest> parse_probe_request(std::string_view text);

// {"model", "layers"?, "kv"?, "autotune"?, "tuning"?, "prompt_tokens", "gen_tokens", "depths", "repeat"}. Errors: invalid_argument, naming the
// field.
Result<BenchRequest> parse_bench_request(std::string_view text);

}  // namespace ztvm::web
