#pragma once
// What happens to a section of text before it is cut into words.
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ztvm::text {

struct PrependText {
  std::string text;  // put before every section that is not empty
};
struct ReplaceText {
  std::string from;  // not empty
  std::string to;
};
struct ComposeNfc {};
using NormalizerStep = std::variant<PrependText, ReplaceText, ComposeNfc>;

// The steps in order; none: the text stays as it is.
using Normalizer = std::vector<NormalizerStep>;

std::string normalize(const Normalizer& steps, std::string_view text);

// `text` with every `from` (not empty) replaced, leftmost first, without overlap.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace ztvm::text
