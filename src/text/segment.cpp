#include "text/segment.hpp"

namespace ztvm::text {

std::string join(std::span<const Segment> segments) {
  std::string text;
  for (const Segment& segment : segments) text += segment.text;
  return text;
}

}  // namespace ztvm::text
