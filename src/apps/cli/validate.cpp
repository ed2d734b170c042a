#include "apps/cli/validate.hpp"

#include <fmt/format.h>

#include <memory>

#include "apps/cli/terminal.hpp"

namespace ztvm::app {
namespace {

// Ops with their weights are read back from the GPU, so a few tokens take a while; they reach every kernel:
// a prompt over a page border, then single tokens.
constexpr std::uint32_t k_prompt_tokens = 18;
constexpr std::uint32_t k_new_tokens = 2;

// Ids spread over the vocabulary; which ones does not matter to the comparison.
std::vector<std::uint32_t> make_prompt() {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < k_prompt_tokens; ++i) ids.push_back(3 + i * 7 % 97);
  return ids;
}

int validate(ModelOptions options) {
  gpu::LockstepReport report_data;
  const bool reference_only = options.backend == engine::Backend::reference;
  if (!reference_only) {
    options.backend = engine::Backend::lockstep;
    options.report = &report_data;
  }
  const auto model = load_model(options, [](std::uint64_t, std::uint64_t) {});
  if (!model) return report(model.error());
  engine::Engine& engine = *model->engine;
  auto begun =
      engine.begin_ids(make_prompt(), {.sampler = {}, .max_tokens = k_new_tokens, .ignore_eos = true});
  if (!begun) return report(begun.error());
  while (true) {
    const auto event = engine.step(true);
    if (!event) return report(event.error());
    if (report_data.first_mismatch) {
      print_now(gpu::describe(*report_data.first_mismatch) + "\n");
      return k_exit_failure;
    }
    if (event->finish != engine::FinishReason::none) break;
  }
  const std::string adapter = model->device->caps().adapter;
  print_now(reference_only
                ? fmt::format("The oracles ran on the CPU; there is no GPU to compare them with.\n")
                : fmt::format("All {} ops agree on {}.\n", report_data.n_ops, adapter));
  return k_exit_ok;
}

}  // namespace

void add_validate_command(CLI::App& program, Action& action) {
  CLI::App& command = *program.add_subcommand(
      "validate", "Runs the model op by op beside its oracles and tells the first that differs");
  auto options = std::make_shared<ModelOptions>();
  options->warn = warn;
  add_model_argument(command, options->model);
  add_backend_options(command, *options);
  command.callback([options, &action] { action = [options] { return validate(*options); }; });
}

}  // namespace ztvm::app
