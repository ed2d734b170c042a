#include "apps/download/progress_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.hpp"

namespace ztvm::app {
namespace {

constexpr double k_terminal_ms = 100;
constexpr double k_log_ms = 10'000;
constexpr double k_speed_ms = 1000;   // a sample of the speed
constexpr double k_memory_ms = 5000;  // that an average looks back
constexpr std::size_t k_bar_chars = 24;

std::string bar(double share) {
  const auto n_full = static_cast<std::size_t>(share * k_bar_chars);
  return "[" + std::string(n_full, '#') + std::string(k_bar_chars - n_full, '.') + "]";
}

}  // namespace

std::string format_seconds(double seconds) {
  const auto total = static_cast<std::uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e9));
  const std::uint64_t hours = total / 3600;
  const std::uint64_t minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

void ProgressText::note_speed(const FetchProgress& progress, double now_ms) {
  // A file that begins anew takes its bytes back.
  if (!speed_from_ms_ || progress.n_bytes_done < speed_from_bytes_) {
    speed_from_ms_ = now_ms;
    speed_from_bytes_ = progress.n_bytes_done;
    return;
  }
  const double elapsed_ms = now_ms - *speed_from_ms_;
  if (elapsed_ms < k_speed_ms) return;
  const double now_rate = static_cast<double>(progress.n_bytes_done - speed_from_bytes_) / elapsed_ms * 1000;
  const double keep = bytes_per_s_ == 0 ? 0 : std::exp(-elapsed_ms / k_memory_ms);
  bytes_per_s_ = keep * bytes_per_s_ + (1 - keep) * now_rate;
  speed_from_ms_ = now_ms;
  speed_from_bytes_ = progress.n_bytes_done;
}

std::optional<std::string> ProgressText::update(const FetchProgress& progress, double now_ms) {
  note_speed(progress, now_ms);
  if (!shown_ms_) shown_ms_ = for_terminal_ ? now_ms - k_terminal_ms : now_ms;
  if (now_ms - *shown_ms_ < (for_terminal_ ? k_terminal_ms : k_log_ms)) return std::nullopt;
  shown_ms_ = now_ms;
  std::string text;
  if (progress.n_bytes > 0) {
    const double share =
        std::min(1.0, static_cast<double>(progress.n_bytes_done) / static_cast<double>(progress.n_bytes));
    text = fmt::format("{:3.0f} %  ", std::floor(share * 100));
    if (for_terminal_) text += bar(share) + "  ";
  }
  text += fmt::format("{} of {}", format_bytes(progress.n_bytes_done), format_bytes(progress.n_bytes));
  if (bytes_per_s_ >= 1) {
    const double n_left =
        static_cast<double>(progress.n_bytes - std::min(progress.n_bytes, progress.n_bytes_done));
    text += fmt::format("  {}/s  {} left", format_bytes(static_cast<std::uint64_t>(bytes_per_s_)),
                        format_seconds(n_left / bytes_per_s_));
  }
  return text;
}

}  // namespace ztvm::app
