#include "apps/cli/chat.hpp"

#include <vector>

#include "apps/cli/answer.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/terminal.hpp"

namespace ztvm::app {
namespace {

constexpr std::string_view k_help =
    "/new forgets the conversation, /exit or Ctrl-D leaves, Ctrl-C stops an answer, everything else is sent.";

// The conversation so far. A message that could not be answered is not kept.
class Conversation {
 public:
  Conversation(engine::Engine& engine, std::string system, engine::GenerateOptions options)
      : engine_(engine), system_(std::move(system)), options_(options) {
    restart();
  }

  void restart() {
    messages_.clear();
    if (!system_.empty()) messages_.push_back({.role = "system", .content = system_});
  }

  Result<void> answer(std::string line) {
    messages_.push_back({.role = "user", .content = std::move(line)});
    auto begun = engine_.begin_chat(messages_, options_);
    if (!begun) {
      messages_.pop_back();
      return begun;
    }
    auto answer = run_generation(engine_, true);
    if (!answer) return forward(answer);
    print_now("\n");
    print_note(describe(engine_.timings()));
    messages_.push_back({.role = "assistant", .content = std::move(answer->text)});
    return {};
  }

 private:
  engine::Engine& engine_;
  std::string system_;
  engine::GenerateOptions options_;
  std::vector<engine::Message> messages_;
};

}  // namespace

int chat(engine::Engine& engine, const std::string& system, const engine::GenerateOptions& options) {
  Conversation conversation(engine, system, options);
  LineReader lines;
  std::string line;
  bool about_to_leave = false;
  catch_interrupts();
  print_note(k_help);
  while (true) {
    if (stdin_is_terminal()) print_now("> ");
    const LineReader::Event event = lines.next(line);
    if (event == LineReader::Event::interrupted && !about_to_leave) {
      about_to_leave = true;
      print_now("\n");
      print_note("Ctrl-C once more, or Ctrl-D, leaves.");
      continue;
    }
    if (event != LineReader::Event::line || line == "/exit") break;
    about_to_leave = false;
    if (line == "/help") {
      print_note(k_help);
    } else if (line == "/new") {
      conversation.restart();
    } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
      auto answered = conversation.answer(line);
      if (!answered) report(answered.error());
      // A full context is mended by /new or a shorter message; a failed device is not.
      if (!answered && answered.error().code != ErrorCode::context_full) return k_exit_failure;
    }
  }
  if (stdin_is_terminal()) print_now("\n");
  return k_exit_ok;
}

}  // namespace ztvm::app
