#include "text/split_pattern.hpp"

#include <array>
#include <charconv>

#include "text/unicode.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

// Each match_ function gives the bytes matched at the start of `text`, 0 for no match.

bool is_line_break(char c) { return c == '\r' || c == '\n'; }

// [classes]* or, with `negated`, [^classes]*, at most `max_characters` of it.
std::size_t match_run(std::string_view text, std::uint8_t classes, bool negated = false,
                      std::size_t max_characters = ~std::size_t{0}) {
  std::size_t n_bytes = 0;
  for (std::size_t i = 0; i < max_characters && n_bytes < text.size(); ++i) {
    const Character character = first_character(text.substr(n_bytes));
    const bool is_member = (char_classes(character.code_point) & classes) != 0;
    if (is_member == negated) break;
    n_bytes += character.n_bytes;
  }
  return n_bytes;
}

// ' ?' before [classes]+ or [^classes]+.
std::size_t match_after_space(std::string_view text, std::uint8_t classes, bool negated = false) {
  const std::size_t n_space = text.starts_with(' ') ? 1 : 0;
  const std::size_t n_run = match_run(text.substr(n_space), classes, negated);
  return n_run == 0 ? 0 : n_space + n_run;
}

// 's|'t|'re|'ve|'m|'ll|'d
std::size_t match_contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

// The same in any case. The long s, U+017F, is an s to a matcher that folds case.
std::size_t match_contraction_any_case(std::string_view text) {
  constexpr std::string_view k_long_s = "\xC5\xBF";
  if (!text.starts_with('\'')) return 0;
  if (text.substr(1).starts_with(k_long_s)) return 1 + k_long_s.size();
  std::array<char, 3> folded{};
  const std::size_t n_bytes = text.copy(folded.data(), folded.size());
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return match_contraction({folded.data(), n_bytes});
}

// [^\r\n\p{L}\p{N}]?[letters]+
std::size_t match_word(std::string_view text, std::uint8_t letters) {
  const Character first = first_character(text);
  const bool is_prefix =
      !is_line_break(text[0]) && (char_classes(first.code_point) & (k_letter | k_number)) == 0;
  if (!is_prefix) return match_run(text, letters);
  const std::size_t n_letters = match_run(text.substr(first.n_bytes), letters);
  // Without letters behind it the character may still be one of `letters` itself: a lone mark.
  return n_letters == 0 ? match_run(text, letters) : first.n_bytes + n_letters;
}

//  ?[^\s...]+[\r\n]*
std::size_t match_punctuation_line(std::string_view text, std::uint8_t excluded) {
  std::size_t n_bytes = match_after_space(text, excluded, true);
  if (n_bytes == 0) return 0;
  while (n_bytes < text.size() && is_line_break(text[n_bytes])) ++n_bytes;
  return n_bytes;
}

// \s+(?!\S)|\s+ : a space before a word is left to the word.
std::size_t match_spaces(std::string_view text) {
  const std::size_t n_run = match_run(text, k_space);
  if (n_run == 0 || n_run == text.size()) return n_run;
  std::size_t last = n_run - 1;
  while ((static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
  return last == 0 ? n_run : last;
}

// \s*[\r\n]+|\s+(?!\S)|\s+
std::size_t match_lines_or_spaces(std::string_view text) {
  const std::size_t n_run = match_run(text, k_space);
  const std::size_t last_break = text.substr(0, n_run).find_last_of("\r\n");
  return last_break == std::string_view::npos ? match_spaces(text) : last_break + 1;
}

std::size_t match_gpt2(std::string_view text) {
  if (const std::size_t n = match_contraction(text)) return n;
  if (const std::size_t n = match_after_space(text, k_letter)) return n;
  if (const std::size_t n = match_after_space(text, k_number)) return n;
  if (const std::size_t n = match_after_space(text, k_space | k_letter | k_number, true)) return n;
  return match_spaces(text);
}

std::size_t match_modern(const SplitPattern& pattern, std::string_view text) {
  const std::uint8_t letters = pattern.marks_are_letters ? k_letter | k_mark : k_letter;
  const auto no_punctuation = static_cast<std::uint8_t>(k_space | k_number | letters);
  if (const std::size_t n = match_contraction_any_case(text)) return n;
  if (const std::size_t n = match_word(text, letters)) return n;
  if (const std::size_t n = match_run(text, k_number, false, pattern.max_digits)) return n;
  if (const std::size_t n = match_punctuation_line(text, no_punctuation)) return n;
  return match_lines_or_spaces(text);
}

constexpr std::string_view k_gpt2_regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The parts of a modern expression around its \p{N} or \p{N}{1,k}.
struct ModernRegex {
  std::string_view before_digits;
  std::string_view after_digits;
  bool marks_are_letters = false;
};
constexpr std::array k_modern_regexes = {
    ModernRegex{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)",
                R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    ModernRegex{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|)",
                R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)", true},
};

// 1 for \p{N}, k for \p{N}{1,k}.
std::optional<std::size_t> parse_digits(std::string_view regex) {
  if (regex == R"(\p{N})") return 1;
  constexpr std::string_view k_begin = R"(\p{N}{1,)";
  if (!regex.starts_with(k_begin) || !regex.ends_with('}')) return std::nullopt;
  const std::string_view number = regex.substr(k_begin.size(), regex.size() - k_begin.size() - 1);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value == 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<SplitPattern> find_split_pattern(std::string_view regex) {
  if (regex == k_gpt2_regex) return k_gpt2_pattern;
  for (const ModernRegex& known : k_modern_regexes) {
    if (regex.size() < known.before_digits.size() + known.after_digits.size()) continue;
    if (!regex.starts_with(known.before_digits) || !regex.ends_with(known.after_digits)) continue;
    const std::string_view digits = regex.substr(
        known.before_digits.size(), regex.size() - known.before_digits.size() - known.after_digits.size());
    if (const std::optional<std::size_t> max_digits = parse_digits(digits)) {
      return SplitPattern{.form = SplitPattern::Form::modern,
                          .max_digits = *max_digits,
                          .marks_are_letters = known.marks_are_letters};
    }
  }
  return std::nullopt;
}

std::size_t first_word_bytes(const SplitPattern& pattern, std::string_view text) {
  return pattern.form == SplitPattern::Form::gpt2 ? match_gpt2(text) : match_modern(pattern, text);
}

}  // namespace ztvm::text
