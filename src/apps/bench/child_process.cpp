#include "apps/bench/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "apps/clock.hpp"

namespace ztvm::app {
namespace {

constexpr std::size_t k_max_output_bytes = 1u << 20;
constexpr std::size_t k_error_bytes = 4096;
constexpr std::size_t k_error_lines = 8;
constexpr double k_look_ms = 100.0;        // how often an interrupt is asked for
constexpr double k_last_wait_ms = 5000.0;  // for a killed child that sits in its driver

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool is_open() const { return ends_[0] >= 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read() { close(0); }
  void close_write() { close(1); }

 private:
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_ = {-1, -1};
};

// In a process group of its own, so that it can be killed with its children. Returns an errno.
int spawn(std::span<const std::string> command, const Pipe& output, const Pipe& errors, pid_t& child) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output.write_end(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, errors.write_end(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      ::posix_spawnp(&child, arguments.front(), &files, &attributes, arguments.data(), ::environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return error;
}

// Takes what there is to read, and closes the pipe at its end. `keep_last` drops the front of a long text, else its end.
void take(Pipe& pipe, std::string& text, std::size_t max_bytes, bool keep_last) {
  std::array<char, 4096> bytes;
  const ssize_t n_read = ::read(pipe.read_end(), bytes.data(), bytes.size());
  if (n_read < 0 && errno == EINTR) return;
  if (n_read <= 0) return pipe.close_read();
  text.append(bytes.data(), static_cast<std::size_t>(n_read));
  if (text.size() <= max_bytes) return;
  if (keep_last) text.erase(0, text.size() - max_bytes);
  if (!keep_last) text.resize(max_bytes);
}

enum class Ending { itself, at_limit, interrupted };

Ending read_until_end(Pipe& output, Pipe& errors, const ChildLimits& limits, ChildResult& result) {
  const double end_ms = now_ms() + 1000.0 * limits.seconds;
  while (output.is_open() || errors.is_open()) {
    const double left_ms = end_ms - now_ms();
    if (left_ms <= 0.0) return Ending::at_limit;
    if (limits.interrupted && limits.interrupted()) return Ending::interrupted;
    // poll() passes over a closed end, which is -1.
    std::array<pollfd, 2> ends = {pollfd{.fd = output.read_end(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = errors.read_end(), .events = POLLIN, .revents = 0}};
    if (::poll(ends.data(), ends.size(), static_cast<int>(std::min(left_ms, k_look_ms)) + 1) <= 0) continue;
    if (ends[0].revents != 0) take(output, result.output, k_max_output_bytes, /*keep_last=*/false);
    if (ends[1].revents != 0) take(errors, result.error_tail, k_error_bytes, /*keep_last=*/true);
  }
  return Ending::itself;
}

// Nothing when it has not ended after `wait_ms`.
std::optional<int> exit_code_of(pid_t child, double wait_ms) {
  const double end_ms = now_ms() + wait_ms;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if ((ended < 0 && errno != EINTR) || now_ms() >= end_ms) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string last_lines(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::size_t start = text.size();
  for (std::size_t i = 0; i < k_error_lines && start != 0; ++i) {
    const std::size_t before = text.rfind('\n', start - 1);
    start = before == std::string_view::npos ? 0 : before;
  }
  if (start < text.size() && text[start] == '\n') ++start;
  return std::string(text.substr(start));
}

}  // namespace

Result<ChildResult> run_child(std::span<const std::string> command, const ChildLimits& limits) {
  Pipe output;
  Pipe errors;
  pid_t child = 0;
  const int error = output.is_open() && errors.is_open() ? spawn(command, output, errors, child) : errno;
  if (error != 0) {
    return fail(ErrorCode::io,
                fmt::format("Cannot start \"{}\": {}.", command.front(), std::strerror(error)));
  }
  output.close_write();
  errors.close_write();
  ChildResult result;
  const Ending ending = read_until_end(output, errors, limits, result);
  if (ending != Ending::itself) ::kill(-child, SIGKILL);
  const std::optional<int> exit_code = exit_code_of(child, k_last_wait_ms);
  if (!exit_code) ::kill(-child, SIGKILL);
  if (ending == Ending::interrupted) return fail(ErrorCode::unsupported, "Interrupted.");
  result.timed_out = ending == Ending::at_limit || !exit_code;
  result.exit_code = exit_code.value_or(128 + SIGKILL);
  result.error_tail = last_lines(result.error_tail);
  return result;
}

}  // namespace ztvm::app
