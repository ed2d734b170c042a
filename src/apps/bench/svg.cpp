#include "apps/bench/svg.hpp"

#include <fmt/format.h>

namespace ztvm::app {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

void Svg::text(double x, double y, std::string_view classes, std::string_view text) {
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, classes, escaped(text));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  path(fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x1, y1, x2, y2), classes);
}

void Svg::bar(double x, double y, double width, double height, std::string_view classes) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" class=\"{}\"/>\n", x, y,
      width, height, classes);
}

void Svg::dot(double x, double y, double radius, std::string_view classes, std::string_view tip) {
  body_ +=
      fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\">", x, y, radius, classes);
  if (!tip.empty()) body_ += fmt::format("<title>{}</title>", escaped(tip));
  body_ += "</circle>\n";
}

void Svg::path(std::string_view commands, std::string_view classes) {
  body_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", commands, classes);
}

std::string Svg::finish(double width, double height, std::string_view style_sheet) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<style>\n{2}</style>\n<rect width=\"100%\" height=\"100%\" "
      "class=\"page\"/>\n{3}</svg>\n",
      width, height, style_sheet, body_);
}

}  // namespace ztvm::app
