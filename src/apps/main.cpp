// zerotvm: the command line program. Exit codes: 0, 1 for failures, 2 for a wrong command line.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "apps/cli/bench.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/doctor.hpp"
#include "apps/cli/download.hpp"
#include "apps/cli/inspect.hpp"
#include "apps/cli/logits.hpp"
#include "apps/cli/perplexity.hpp"
#include "apps/cli/run.hpp"
#include "apps/cli/serve.hpp"
#include "apps/cli/terminal_text.hpp"
#include "apps/cli/tokenize_command.hpp"
#include "apps/cli/validate.hpp"
#include "apps/cli/verify.hpp"

namespace ztvm::app {
namespace {

int report_usage(const CLI::App& program, const CLI::ParseError& error, std::string_view first_argument) {
  std::string text = error.what();
  const bool is_unknown_command =
      program.get_subcommands().empty() && !first_argument.empty() && !first_argument.starts_with('-');
  if (is_unknown_command) text = fmt::format("\"{}\" is no command", first_argument);
  while (text.ends_with('.') || text.ends_with('\n')) text.pop_back();
  const auto chosen = program.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name() + " ";
  fmt::print(stderr, "zerotvm: {} (\"zerotvm {}--help\" shows the usage).\n", with_codes_shown(text),
             command);
  return k_exit_usage;
}

int run_program(int argc, char** argv) {
  CLI::App program("Zero TVM: language models on hand-written WGSL kernels.", "zerotvm");
  program.set_version_flag("--version", ZTVM_VERSION);
  program.require_subcommand(1);
  Action action;
  add_run_command(program, action);
  add_serve_command(program, action);
  add_download_command(program, action);
  add_verify_command(program, action);
  add_logits_command(program, action);
  add_tokenize_command(program, action);
  add_validate_command(program, action);
  add_inspect_command(program, action);
  add_doctor_command(program, action);
  add_bench_command(program, action);
  add_perplexity_command(program, action);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return program.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return report_usage(program, error, argc > 1 ? argv[1] : "");
  }
  const int code = action();
  // A full disk or a closed pipe shows when the last bytes leave.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return report({.code = ErrorCode::io, .text = "Cannot write to the standard output."});
  }
  return code;
}

}  // namespace
}  // namespace ztvm::app

int main(int argc, char** argv) {
  try {
    return ztvm::app::run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "zerotvm: The memory of this machine does not suffice for what was asked.\n");
    return ztvm::app::k_exit_failure;
  } catch (const std::exception& error) {
    fmt::print(stderr, "zerotvm: Unexpected failure: {}.\n", ztvm::app::with_codes_shown(error.what()));
    return ztvm::app::k_exit_failure;
  }
}
