#include "text/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "text/unicode.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

// Where the character that ends at `end` begins; `end` is not 0.
std::size_t previous_character(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return begin;
}

bool has_class_at(std::string_view text, std::size_t begin, std::uint8_t classes) {
  return (char_classes(first_character(text.substr(begin)).code_point) & classes) != 0;
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && has_class_at(text, previous_character(text, begin), k_word)) return false;
  return end == text.size() || !has_class_at(text, end, k_word);
}

std::size_t skip_spaces_back(std::string_view text, std::size_t end) {
  while (end > 0 && has_class_at(text, previous_character(text, end), k_space)) {
    end = previous_character(text, end);
  }
  return end;
}

std::size_t skip_spaces(std::string_view text, std::size_t begin) {
  while (begin < text.size() && has_class_at(text, begin, k_space)) {
    begin += first_character(text.substr(begin)).n_bytes;
  }
  return begin;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::span<const AddedToken> tokens,
                                   std::span<const std::string> patterns) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    patterns_.push_back({.text = patterns[i],
                         .id = tokens[i].id,
                         .lstrip = tokens[i].lstrip,
                         .rstrip = tokens[i].rstrip,
                         .single_word = tokens[i].single_word});
  }
  std::ranges::sort(patterns_, {}, [](const Pattern& pattern) {
    return std::pair(std::string_view(pattern.text), pattern.id);
  });
}

const AddedTokenFinder::Pattern* AddedTokenFinder::longest_at_start(std::string_view text) const {
  const Pattern* longest = nullptr;
  // The patterns that agree with the first n_bytes of the text are neighbours, the shortest in front.
  std::span<const Pattern> candidates = patterns_;
  for (std::size_t n_bytes = 0; n_bytes < text.size(); ++n_bytes) {
    const auto byte_here = [&](const Pattern& pattern) {
      return static_cast<unsigned char>(pattern.text[n_bytes]);
    };
    const auto same =
        std::ranges::equal_range(candidates, static_cast<unsigned char>(text[n_bytes]), {}, byte_here);
    candidates = {same.begin(), same.end()};
    if (candidates.empty()) break;
    const Pattern& shortest = candidates.front();
    while (!candidates.empty() && candidates.front().text.size() == n_bytes + 1) {
      longest = &shortest;
      candidates = candidates.subspan(1);
    }
  }
  return longest;
}

void AddedTokenFinder::find(std::string_view text, std::size_t begin, std::size_t end,
                            std::vector<AddedTokenMatch>& matches) const {
  if (patterns_.empty()) return;
  std::size_t position = begin;
  while (position < end) {
    const Pattern* pattern = longest_at_start(text.substr(position, end - position));
    if (pattern == nullptr) {
      ++position;
      continue;
    }
    AddedTokenMatch match{.begin = position, .end = position + pattern->text.size(), .id = pattern->id};
    position = match.end;
    if (pattern->single_word && !stands_alone(text, match.begin, match.end)) continue;
    const std::size_t previous_end = matches.empty() ? 0 : matches.back().end;
    if (pattern->lstrip) match.begin = std::max(skip_spaces_back(text, match.begin), previous_end);
    if (pattern->rstrip) match.end = skip_spaces(text, match.end);
    matches.push_back(match);
  }
}

}  // namespace ztvm::text
