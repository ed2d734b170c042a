#pragma once
// Pieces of a rendered chat that remember where they come from, so that content can never become a control
// token.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ztvm::text {

enum class Origin : std::uint8_t {
  chat_template,  // written by the template: control strings in it are control tokens
  content,        // given by a person, a tool or the model: plain text whatever it says
};

struct Segment {
  Origin origin = Origin::content;
  std::string text;  // UTF-8
};

// The template's own text: all segments joined.
std::string join(std::span<const Segment> segments);

}  // namespace ztvm::text
