#include "apps/cli/answer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/terminal.hpp"
#include "apps/cli/terminal_text.hpp"
#include "base/json.hpp"

namespace ztvm::app {
namespace {

double per_second(std::uint32_t n_tokens, double elapsed_ms) {
  return elapsed_ms > 0.0 ? 1000.0 * n_tokens / elapsed_ms : 0.0;
}

}  // namespace

Result<Answer> run_generation(engine::Engine& engine, bool stream) {
  Answer answer;
  const bool is_terminal = stdout_is_terminal();
  while (answer.finish == engine::FinishReason::none) {
    if (take_interrupt()) engine.interrupt();
    auto event = engine.step(true);
    if (!event) return forward(event);
    answer.ids.insert(answer.ids.end(), event->ids.begin(), event->ids.end());
    answer.text += event->text;
    answer.finish = event->finish;
    if (stream && !event->text.empty()) print_now(is_terminal ? without_codes(event->text) : event->text);
  }
  return answer;
}

double prefill_tokens_per_s(const engine::Timings& timings) {
  return per_second(timings.n_prompt_tokens - timings.n_reused_tokens, timings.prefill_ms);
}

double decode_tokens_per_s(const engine::Timings& timings) {
  // The first token belongs to the prefill.
  return timings.n_output_tokens > 1 ? per_second(timings.n_output_tokens - 1, timings.decode_ms) : 0.0;
}

std::string describe(const engine::Timings& timings) {
  std::string text = fmt::format("{} tokens, {:.1f} tokens/s, first token after {:.0f} ms",
                                 timings.n_output_tokens, decode_tokens_per_s(timings), timings.prefill_ms);
  if (timings.n_reused_tokens > 0) {
    text += fmt::format(", {} of {} prompt tokens reused", timings.n_reused_tokens, timings.n_prompt_tokens);
  }
  return text;
}

std::string answer_as_json(const engine::Engine& engine, const gpu::Caps& caps, const Answer& answer) {
  const engine::Timings timings = engine.timings();
  OrderedJson times;
  times["load_ms"] = timings.load_ms;
  times["prefill_ms"] = timings.prefill_ms;
  times["decode_ms"] = timings.decode_ms;
  times["prefill_tokens_per_s"] = prefill_tokens_per_s(timings);
  times["decode_tokens_per_s"] = decode_tokens_per_s(timings);
  OrderedJson object;
  object["prompt_ids"] = std::vector<std::uint32_t>(engine.prompt_ids().begin(), engine.prompt_ids().end());
  object["output_ids"] = answer.ids;
  object["text"] = answer.text;
  object["finish_reason"] = std::string(engine::to_string(answer.finish));
  object["timings"] = std::move(times);
  object["dispatches_per_token"] = engine.dispatches_per_token();
  object["adapter"] = caps.adapter;
  return dump_json(object);
}

}  // namespace ztvm::app
