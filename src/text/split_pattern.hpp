#pragma once
// The regular expressions with which byte-level tokenizers cut text into words, as hand-written matchers.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ztvm::text {

// One of a family of expressions; each covers every text completely, so words follow each other without gaps.
struct SplitPattern {
  enum class Form : std::uint8_t {
    gpt2,    // words, numbers and punctuation with the space before them; contractions in lower case
    modern,  // Llama 3 and Qwen: any one character before a word, short numbers, line breaks kept together
  };
  Form form = Form::gpt2;
  std::size_t max_digits = 1;      // of one number; modern only
  bool marks_are_letters = false;  // Qwen 3.5; modern only
};

inline constexpr SplitPattern k_gpt2_pattern{.form = SplitPattern::Form::gpt2};
inline constexpr SplitPattern k_qwen2_pattern{.form = SplitPattern::Form::modern, .max_digits = 1};
inline constexpr SplitPattern k_qwen3_5_pattern{
    .form = SplitPattern::Form::modern, .max_digits = 1, .marks_are_letters = true};
inline constexpr SplitPattern k_llama3_pattern{.form = SplitPattern::Form::modern, .max_digits = 3};

// The pattern whose regular expression is exactly `regex`.
std::optional<SplitPattern> find_split_pattern(std::string_view regex);

// The length in bytes of the first word of the non-empty, well formed `text`.
std::size_t first_word_bytes(const SplitPattern& pattern, std::string_view text);

}  // namespace ztvm::text
