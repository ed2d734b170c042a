#pragma once
// Drives one generation from its begin to its end, showing the text as it comes.
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/engine.hpp"
#include "gpu/device.hpp"

namespace ztvm::app {

struct Answer {
  std::string text;
  std::vector<std::uint32_t> ids;
  engine::FinishReason finish = engine::FinishReason::none;
};

// Steps the engine until the generation is over; prints the text while it comes if `stream`, on a terminal without
// control codes, else the bytes as they are. Ctrl-C interrupts it.
Result<Answer> run_generation(engine::Engine& engine, bool stream);

// Tokens a second of prefill (tokens that were not in the cache) and decode; 0 where nothing was measured.
double prefill_tokens_per_s(const engine::Timings& timings);
double decode_tokens_per_s(const engine::Timings& timings);

// "48 tokens, 21.3 tokens/s, first token after 310 ms, 20 of 31 prompt tokens reused".
std::string describe(const engine::Timings& timings);

// The object of `run --json`.
std::string answer_as_json(const engine::Engine& engine, const gpu::Caps& caps, const Answer& answer);

}  // namespace ztvm::app
