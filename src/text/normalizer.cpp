#include "text/normalizer.hpp"

#include "text/nfc.hpp"

namespace ztvm::text {
namespace {

std::string run_step(const PrependText& step, std::string text) {
  return text.empty() ? text : step.text + text;
}
std::string run_step(const ReplaceText& step, std::string text) {
  return replace_all(text, step.from, step.to);
}
std::string run_step(const ComposeNfc&, std::string text) { return to_nfc(text); }

}  // namespace

std::string normalize(const Normalizer& steps, std::string_view text) {
  std::string result(text);
  for (const NormalizerStep& step : steps) {
    result = std::visit([&](const auto& s) { return run_step(s, std::move(result)); }, step);
  }
  return result;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  for (;;) {
    const std::size_t found = text.find(from);
    result += text.substr(0, found);
    if (found == std::string_view::npos) return result;
    result += to;
    text.remove_prefix(found + from.size());
  }
}

}  // namespace ztvm::text
