#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "text/nfc.hpp"

namespace ztvm::text {
namespace {

using CodePoint = utf8proc_int32_t;

constexpr CodePoint k_first_mark = 0x300;  // below, no character is a mark or becomes one
constexpr std::size_t k_long_run = 32;     // marks; no writing stacks as many
constexpr auto k_decompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);

int combining_class(CodePoint c) { return utf8proc_get_property(c)->combining_class; }

// Appends the canonical decomposition of `c` to `run` if it is marks alone.
bool take_mark(CodePoint c, std::vector<CodePoint>& run) {
  if (c < k_first_mark) return false;
  std::array<CodePoint, 8> parts;  // four suffice
  const utf8proc_ssize_t n_parts =
      utf8proc_decompose_char(c, parts.data(), narrow<utf8proc_ssize_t>(parts.size()), k_decompose, nullptr);
  if (n_parts < 1 || n_parts > narrow<utf8proc_ssize_t>(parts.size()) || combining_class(parts[0]) == 0) {
    return false;
  }
  run.insert(run.end(), parts.begin(), parts.begin() + n_parts);
  return true;
}

void append_sorted(const std::vector<CodePoint>& run, std::string& out) {
  // Marks of one class keep their order.
  std::vector<std::pair<int, std::size_t>> order;
  for (std::size_t i = 0; i < run.size(); ++i) order.emplace_back(combining_class(run[i]), i);
  std::ranges::sort(order);
  std::array<utf8proc_uint8_t, 4> bytes;
  for (const auto& [mark_class, i] : order) {
    const utf8proc_ssize_t n_bytes = utf8proc_encode_char(run[i], bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(n_bytes));
  }
}

// The text with its long runs of marks in canonical order: the same to NFC, but utf8proc, which swaps neighbours until all
// are in order, then takes linear time for it.
std::string sort_long_runs(std::string_view text) {
  std::string out;
  std::vector<CodePoint> run;
  std::size_t n_copied = 0;
  std::size_t run_begin = 0;
  const auto end_run = [&](std::size_t end) {
    if (run.size() >= k_long_run) {
      out += text.substr(n_copied, run_begin - n_copied);
      append_sorted(run, out);
      n_copied = end;
    }
    run.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    CodePoint c = 0;
    const utf8proc_ssize_t n_bytes =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         narrow<utf8proc_ssize_t>(text.size() - at), &c);
    check(n_bytes > 0, "the text is well formed");
    if (run.empty()) run_begin = at;
    if (!take_mark(c, run)) end_run(at);
    at += static_cast<std::size_t>(n_bytes);
  }
  end_run(text.size());
  return out += text.substr(n_copied);
}

}  // namespace

std::string platform_nfc(std::string_view text) {
  const std::string sorted = sort_long_runs(text);
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t n_bytes = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(sorted.data()), narrow<utf8proc_ssize_t>(sorted.size()),
      &result, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
  check(n_bytes >= 0, "utf8proc_map() fails on well formed text only when memory is exhausted");
  return std::string(reinterpret_cast<const char*>(result), static_cast<std::size_t>(n_bytes));
}

}  // namespace ztvm::text
