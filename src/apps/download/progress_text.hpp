#pragma once
// Progress of a download as text: a bar for a terminal, plain lines for a log.
#include <cstdint>
#include <optional>
#include <string>

#include "apps/download/fetcher.hpp"

namespace ztvm::app {

class ProgressText {
 public:
  explicit ProgressText(bool for_terminal) : for_terminal_(for_terminal) {}

  // A text when it is time for one: on a terminal ten times a second, else every ten seconds. `now_ms` never goes back.
  std::optional<std::string> update(const FetchProgress& progress, double now_ms);

 private:
  void note_speed(const FetchProgress& progress, double now_ms);

  bool for_terminal_;
  std::optional<double> shown_ms_;
  std::optional<double> speed_from_ms_;
  std::uint64_t speed_from_bytes_ = 0;
  double bytes_per_s_ = 0;  // averaged over some seconds; 0: not known yet
};

// "0:07", "12:34", "3:05:00".
std::string format_seconds(double seconds);

}  // namespace ztvm::app
