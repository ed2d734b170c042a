#pragma once
// The few elements of an SVG picture that plots need. Coordinates are pixels; looks come from classes of a style sheet.
#include <string>
#include <string_view>

namespace ztvm::app {

class Svg {
 public:
  void text(double x, double y, std::string_view classes, std::string_view text);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void bar(double x, double y, double width, double height, std::string_view classes);
  // `tip` is shown where the pointer rests on it; may be empty.
  void dot(double x, double y, double radius, std::string_view classes, std::string_view tip);
  void path(std::string_view commands, std::string_view classes);
  // The whole file.
  std::string finish(double width, double height, std::string_view style_sheet) const;

 private:
  std::string body_;
};

}  // namespace ztvm::app
