#pragma once
// What the commands that download share: where the hub is, and how progress, notes and Ctrl-C reach the terminal.
#include <string>

#include "apps/download/download.hpp"
#include "base/error.hpp"

namespace ztvm::app {

// The address of the hub: `mirror`, or $ZEROTVM_HUB; empty when neither is given. Errors: invalid_argument.
Result<std::string> chosen_hub(const std::string& mirror);

// Options with the real clock, a progress bar on stderr (plain lines where it is no terminal), and Ctrl-C.
DownloadOptions console_options();

// Reports the end of an interrupted download. Returns k_exit_interrupted.
int report_interrupted();

}  // namespace ztvm::app
