#pragma once
// What a caller asks of a generation, and what comes back while it runs: plain data for every front end.
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ztvm::engine {

// How the next token is chosen from the logits. Order: repetition penalty, temperature, top-k, top-p, min-p, draw.
struct SamplerParams {
  float temperature = 0.0f;  // [0, 100]; 0 is argmax and ignores all but repeat_penalty
  std::uint32_t top_k = 0;   // 0: off
  float top_p = 1.0f;        // (0, 1]; 1: off
  float min_p = 0.0f;        // [0, 1]; 0: off. Keeps tokens with p >= min_p * max p
  float repeat_penalty =
      1.0f;  // (0, 10]; 1: off. Divides positive and multiplies negative logits of tokens in the context
  std::uint64_t seed = 0;  // same seed, prompt and adapter: same tokens
};

// Checks every field, NaN included. Errors: invalid_argument, naming the field.
Result<void> validate(const SamplerParams& params);

struct GenerateOptions {
  SamplerParams sampler;
  std::uint32_t max_tokens = 512;
  bool ignore_eos = false;  // go on after stop tokens, to measure or to compare with goldens
};

enum class FinishReason : std::uint8_t { none, stop, length, interrupted };
std::string_view to_string(FinishReason reason);

struct Timings {
  double load_ms = 0.0;
  double prefill_ms = 0.0;  // from begin() to the first token known on the host
  double decode_ms = 0.0;   // from the first token to the last
  std::uint32_t n_prompt_tokens = 0;
  std::uint32_t n_reused_tokens = 0;  // prompt tokens whose keys and values were still in the cache
  std::uint32_t n_output_tokens = 0;
};

// One message of a chat, as OpenAI's API has it.
struct Message {
  std::string role;     // "system", "user" or "assistant"
  std::string content;  // UTF-8
};

}  // namespace ztvm::engine
