#pragma once
// Tokens that are found in the text before BPE sees it: control tokens such as <|im_end|>, and words a vendor
// added.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocab.hpp"

namespace ztvm::text {

struct AddedToken {
  TokenId id = 0;
  std::string content;       // not empty
  bool is_special = false;   // left out when decoding with skip_special
  bool lstrip = false;       // swallows white space before it
  bool rstrip = false;       // swallows white space after it
  bool single_word = false;  // only where no word character touches it
  bool normalized = false;   // looked for in the normalised text
};

// Where an added token stands, swallowed white space included: bytes [begin, end) of the text searched.
struct AddedTokenMatch {
  std::size_t begin = 0;
  std::size_t end = 0;
  TokenId id = 0;
};

// Finds a set of added tokens in a text: leftmost first, the longest among those that begin together.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  // `patterns[i]` is the text to find for `tokens[i]`.
  AddedTokenFinder(std::span<const AddedToken> tokens, std::span<const std::string> patterns);

  // Appends the matches that lie in [begin, end) of `text`; white space and words are judged in the whole
  // `text`. Matches follow those that `matches` has already.
  void find(std::string_view text, std::size_t begin, std::size_t end,
            std::vector<AddedTokenMatch>& matches) const;

  bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::string text;
    TokenId id = 0;
    bool lstrip = false;
    bool rstrip = false;
    bool single_word = false;
  };

  const Pattern* longest_at_start(std::string_view text) const;

  std::vector<Pattern> patterns_;  // sorted by text
};

}  // namespace ztvm::text
