#include "apps/cli/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "apps/cli/terminal_text.hpp"

namespace ztvm::app {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t interrupt_seen = 0;

void on_interrupt(int) {
  if (interrupt_seen != 0) ::_exit(130);
  interrupt_seen = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;  // without SA_RESTART, so that read() returns
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
}

bool take_interrupt() {
  const bool was = interrupt_seen != 0;
  interrupt_seen = 0;
  return was;
}

bool stdin_is_terminal() { return ::isatty(STDIN_FILENO) == 1; }
bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

void print_now(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_note(std::string_view text) {
  if (stderr_is_terminal()) fmt::print(stderr, "\033[2m{}\033[0m\n", with_codes_shown(text));
}

void print_status(std::string_view text) {
  if (stderr_is_terminal()) fmt::print(stderr, "\r\033[K{}", with_codes_shown(text));
}

LineReader::Event LineReader::next(std::string& line) {
  while (true) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos || (at_end_ && !pending_.empty())) {
      line = pending_.substr(0, end);
      pending_.erase(0, end == std::string::npos ? end : end + 1);
      return Event::line;
    }
    if (at_end_) return Event::end;
    std::array<char, 4096> bytes;
    const ssize_t n_read = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (n_read > 0) {
      pending_.append(bytes.data(), static_cast<std::size_t>(n_read));
    } else if (n_read < 0 && errno == EINTR) {
      if (take_interrupt()) return Event::interrupted;
    } else {
      at_end_ = true;
    }
  }
}

}  // namespace ztvm::app
