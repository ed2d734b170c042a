#pragma once
// How a list of tokens becomes text again: the parts of tokenizer.json's decoder, in their fixed order.
#include <cstddef>
#include <string>
#include <vector>

#include "text/normalizer.hpp"

namespace ztvm::text {

struct DecoderPlan {
  // Tokens are written in the byte alphabet; nothing below applies then.
  bool byte_level = false;

  std::vector<ReplaceText> replacements = {};  // in each token
  std::string metaspace = {};                  // not empty: this is a space, and nothing in the first token
  bool byte_fallback = false;                  // a row of tokens "<0xHH>" is the UTF-8 text of its bytes
  std::string strip = {};  // not empty: the character of which n_strip are cut from the start
  std::size_t n_strip = 0;
};

}  // namespace ztvm::text
