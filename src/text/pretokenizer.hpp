#pragma once
// Cuts a normalised section into the words that BPE encodes one by one.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/split_pattern.hpp"

namespace ztvm::text {

enum class PrependScheme : std::uint8_t { always, first, never };

struct SplitByPattern {
  SplitPattern pattern;
};
struct SplitDigits {
  bool individual = false;  // each digit by itself, else rows of digits
};
// Writes spaces as `replacement` and, by `scheme`, puts one before the text.
struct Metaspace {
  std::string replacement;
  PrependScheme scheme = PrependScheme::always;
  bool split = true;  // a word begins at each replacement
};
struct PrependSpace {};  // ByteLevel's add_prefix_space

using PreTokenizerStep = std::variant<SplitByPattern, SplitDigits, Metaspace, PrependSpace>;

// The steps in order, each working on the words of the one before.
using PreTokenizer = std::vector<PreTokenizerStep>;

// Consecutive words of one text.
struct Words {
  std::string text;
  std::vector<std::size_t> ends;  // ascending byte offsets; the last one is text.size()

  std::size_t size() const { return ends.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::string_view(text).substr(begin, ends[i] - begin);
  }
};

// `section` is well formed; `begins_text`: nothing stands before it in the text (for PrependScheme::first).
Words split_words(const PreTokenizer& steps, std::string section, bool begins_text);

}  // namespace ztvm::text
