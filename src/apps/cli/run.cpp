#include "apps/cli/run.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <memory>
#include <optional>
#include <random>

#include "apps/cli/answer.hpp"
#include "apps/cli/chat.hpp"
#include "apps/cli/terminal.hpp"

namespace ztvm::app {
namespace {

constexpr std::uint32_t k_max_new_tokens = 1u << 20;

struct RunOptions {
  ModelOptions model;
  std::optional<std::string> prompt;
  std::string system;
  std::string ids_text;            // "1,2,3", as given
  std::vector<std::uint32_t> ids;  // parsed
  engine::GenerateOptions generate;
  bool raw = false;
  bool json = false;
};

Result<void> begin(engine::Engine& engine, const RunOptions& options) {
  if (!options.ids.empty()) return engine.begin_ids(options.ids, options.generate);
  if (options.raw) return engine.begin_text(*options.prompt, options.generate);
  std::vector<engine::Message> messages;
  if (!options.system.empty()) messages.push_back({.role = "system", .content = options.system});
  messages.push_back({.role = "user", .content = *options.prompt});
  return engine.begin_chat(messages, options.generate);
}

int answer_once(const LoadedModel& model, const RunOptions& options) {
  engine::Engine& engine = *model.engine;
  catch_interrupts();
  if (auto begun = begin(engine, options); !begun) return report(begun.error());
  const auto answer = run_generation(engine, !options.json);
  if (!answer) return report(answer.error());
  if (options.json) {
    print_now(answer_as_json(engine, model.device->caps(), *answer) + "\n");
  } else {
    print_now("\n");
    print_note(describe(engine.timings()));
  }
  return answer->finish == engine::FinishReason::interrupted ? k_exit_interrupted : k_exit_ok;
}

int run(const RunOptions& options) {
  const auto show = [](std::uint64_t n_done, std::uint64_t n_total) {
    print_status(fmt::format("Loading the model: {} of {}", format_bytes(n_done), format_bytes(n_total)));
  };
  const auto model = load_model(options.model, show);
  print_status("");
  if (!model) return report(model.error());
  if (options.prompt || !options.ids.empty()) return answer_once(*model, options);
  return chat(*model->engine, options.system, options.generate);
}

void add_sampler_options(CLI::App& command, engine::SamplerParams& sampler) {
  command.add_option("--temperature", sampler.temperature, "0 takes the likeliest token; up to 100")
      ->check(real_number(0, 100, true))
      ->capture_default_str();
  command.add_option("--top-k", sampler.top_k, "Keep the K likeliest tokens; 0: all")
      ->check(whole_number(0, UINT32_MAX))
      ->capture_default_str();
  command.add_option("--top-p", sampler.top_p, "Keep the likeliest tokens up to this sum")
      ->check(real_number(0, 1, false))
      ->capture_default_str();
  command
      .add_option("--min-p", sampler.min_p, "Keep tokens with this part of the likeliest one's probability")
      ->check(real_number(0, 1, true))
      ->capture_default_str();
  command
      .add_option("--repeat-penalty", sampler.repeat_penalty,
                  "Over 1 makes tokens of the context less likely")
      ->check(real_number(0, 10, false))
      ->capture_default_str();
  command
      .add_option("--seed", sampler.seed, "The same seed gives the same answer; without it each is another")
      ->check(whole_number(0, UINT64_MAX));
}

// What no single option can tell. Ends the parsing on a contradiction.
void check_options(RunOptions& options, const CLI::App& command) {
  if (command.count("--ids") > 0) {
    auto ids = parse_ids(options.ids_text);
    if (!ids) fail_usage("--ids: " + ids.error().text);
    options.ids = std::move(*ids);
    if (options.prompt) fail_usage("--ids takes the place of PROMPT, so give one of the two");
  }
  const bool has_template = !options.raw && options.ids.empty();
  if (!options.system.empty() && !has_template) {
    fail_usage("--system needs the chat template, which --raw and --ids leave out");
  }
  if (options.raw && !options.prompt) fail_usage("--raw needs a PROMPT to continue");
  if (options.json && !options.prompt && options.ids.empty()) fail_usage("--json needs a PROMPT or --ids");
  if (auto valid = engine::validate(options.generate.sampler); !valid) fail_usage(valid.error().text);
  if (command.count("--seed") == 0) options.generate.sampler.seed = std::random_device{}();
}

}  // namespace

void add_run_command(CLI::App& program, Action& action) {
  CLI::App& command = *program.add_subcommand("run", "Answers a prompt, or chats when there is none");
  // CLI11 keeps references to what it fills, so it lives on the heap and goes along with the callback.
  auto options = std::make_shared<RunOptions>();
  options->model.warn = warn;
  add_model_argument(command, options->model.model);
  command.add_option("PROMPT", options->prompt, "What to answer; without it an interactive chat begins");
  command.add_option("--system", options->system, "System message that stands before the conversation");
  command.add_option("--max-tokens", options->generate.max_tokens, "Longest answer in tokens")
      ->check(whole_number(1, k_max_new_tokens))
      ->capture_default_str();
  add_sampler_options(command, options->generate.sampler);
  add_context_option(command, options->model.context);
  command.add_flag("--raw", options->raw, "Continue PROMPT as it is, without the chat template");
  command.add_option("--ids", options->ids_text, "Token ids to continue, in place of PROMPT: 1,2,3");
  command.add_flag("--ignore-eos", options->generate.ignore_eos, "Go on after tokens that end an answer");
  command.add_flag("--json", options->json, "Print one JSON object with ids, text and timings");
  add_backend_options(command, options->model);
  command.callback([options, &command, &action] {
    check_options(*options, command);
    action = [options] { return run(*options); };
  });
}

}  // namespace ztvm::app
