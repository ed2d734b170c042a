#include "text/pretokenizer.hpp"

#include <utility>

#include "text/normalizer.hpp"
#include "text/unicode.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

// Adds the ends of the parts into which `first_part_bytes` cuts the word [begin, end) of `text`.
template <typename FirstPart>
void cut(std::string_view text, std::size_t begin, std::size_t end, std::vector<std::size_t>& ends,
         FirstPart first_part_bytes) {
  while (begin < end) {
    begin += first_part_bytes(text.substr(begin, end - begin));
    ends.push_back(begin);
  }
}

template <typename FirstPart>
Words cut_all(Words words, FirstPart first_part_bytes) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  for (const std::size_t end : words.ends) {
    cut(words.text, begin, end, ends, first_part_bytes);
    begin = end;
  }
  words.ends = std::move(ends);
  return words;
}

std::size_t first_digits_part_bytes(std::string_view text, bool individual) {
  const auto is_digit = [&](std::size_t offset) {
    return (char_classes(first_character(text.substr(offset)).code_point) & k_number) != 0;
  };
  const bool begins_with_digit = is_digit(0);
  std::size_t n_bytes = first_character(text).n_bytes;
  if (begins_with_digit && individual) return n_bytes;
  while (n_bytes < text.size() && is_digit(n_bytes) == begins_with_digit) {
    n_bytes += first_character(text.substr(n_bytes)).n_bytes;
  }
  return n_bytes;
}

Words run_step(const SplitByPattern& step, Words words, bool) {
  return cut_all(std::move(words),
                 [&](std::string_view text) { return first_word_bytes(step.pattern, text); });
}

Words run_step(const SplitDigits& step, Words words, bool) {
  return cut_all(std::move(words),
                 [&](std::string_view text) { return first_digits_part_bytes(text, step.individual); });
}

Words run_step(const Metaspace& step, Words words, bool begins_text) {
  Words result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t begin = result.text.size();
    const std::string word = replace_all(words[i], " ", step.replacement);
    const bool may_prepend = step.scheme == PrependScheme::always ||
                             (step.scheme == PrependScheme::first && begins_text && i == 0);
    if (may_prepend && !word.starts_with(step.replacement)) result.text += step.replacement;
    result.text += word;
    const auto first_part_bytes = [&](std::string_view rest) {
      return step.split ? std::min(rest.find(step.replacement, 1), rest.size()) : rest.size();
    };
    cut(result.text, begin, result.text.size(), result.ends, first_part_bytes);
  }
  return result;
}

Words run_step(const PrependSpace&, Words words, bool) {
  Words result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with(' ')) result.text += ' ';
    result.text += words[i];
    result.ends.push_back(result.text.size());
  }
  return result;
}

}  // namespace

Words split_words(const PreTokenizer& steps, std::string section, bool begins_text) {
  Words words{.text = std::move(section), .ends = {}};
  if (words.text.empty()) return words;
  words.ends.push_back(words.text.size());
  for (const PreTokenizerStep& step : steps) {
    words = std::visit([&](const auto& s) { return run_step(s, std::move(words), begins_text); }, step);
  }
  return words;
}

}  // namespace ztvm::text
