#include "apps/cli/fetch_console.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "apps/cli/command.hpp"
#include "apps/cli/terminal.hpp"
#include "apps/cli/terminal_text.hpp"
#include "apps/download/progress_text.hpp"
#include "apps/download/repo_files.hpp"

namespace ztvm::app {

Result<std::string> chosen_hub(const std::string& mirror) {
  std::string hub = mirror;
  if (const char* named = std::getenv("ZEROTVM_HUB"); hub.empty() && named != nullptr) hub = named;
  if (hub.empty()) return hub;
  return parse_hub(hub);
}

DownloadOptions console_options() {
  catch_interrupts();
  DownloadOptions options{.fetch = real_fetch_options()};
  FetchOptions& fetch = options.fetch;
  fetch.interrupted = take_interrupt;
  const bool on_terminal = stderr_is_terminal();
  fetch.on_progress = [text = ProgressText(on_terminal), on_terminal,
                       now_ms = fetch.now_ms](const FetchProgress& progress) mutable {
    const auto line = text.update(progress, now_ms());
    if (!line) return;
    if (on_terminal) {
      print_status(*line);
    } else {
      fmt::print(stderr, "{}\n", *line);
    }
  };
  fetch.on_note = [](const std::string& note) {
    print_status("");
    fmt::print(stderr, "{}\n", with_codes_shown(note));
  };
  return options;
}

int report_interrupted() {
  print_status("");
  fmt::print(stderr, "zerotvm: The download is interrupted; the same command goes on from here.\n");
  return k_exit_interrupted;
}

}  // namespace ztvm::app
