#pragma once
// The terminal as a chat needs it: lines from stdin, Ctrl-C as an event, dimmed notes on stderr.
#include <optional>
#include <string>
#include <string_view>

namespace ztvm::app {

// Turns Ctrl-C from the end of the program into a flag. A second Ctrl-C before the flag is taken still ends it.
void catch_interrupts();
// Whether Ctrl-C was pressed since the last call.
bool take_interrupt();

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();

// Writes to stdout at once. Whether that worked is asked at the program's end.
void print_now(std::string_view text);
// A line of remark on stderr, dimmed; nothing where stderr is no terminal.
void print_note(std::string_view text);
// Rewrites the current line of stderr; an empty text clears it. Nothing where stderr is no terminal.
void print_status(std::string_view text);

// Reads lines from stdin with read(2), because iostreams go on waiting after Ctrl-C.
class LineReader {
 public:
  enum class Event { line, interrupted, end };
  // Waits for the next line and stores it without its end.
  Event next(std::string& line);

 private:
  std::string pending_;
  bool at_end_ = false;
};

}  // namespace ztvm::app
