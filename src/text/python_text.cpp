#include "text/python_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/unicode.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

bool is_python_space(char32_t code_point) {
  return is_space(code_point) || (code_point >= 0x1C && code_point <= 0x1F);
}

// repr() of a float: the shortest digits that give it back, with an exponent below 1e-4 and from 1e16.
std::string python_float(double value) {
  if (value == 0.0) return std::signbit(value) ? "-0.0" : "0.0";
  std::array<char, 32> buffer{};
  const std::to_chars_result written = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                                     std::abs(value), std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  std::string digits(text.substr(0, e));
  std::erase(digits, '.');
  int exponent = 0;
  const std::string_view exponent_text = text.substr(text[e + 1] == '+' ? e + 2 : e + 1);
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  const std::string sign = value < 0 ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const std::string fraction = digits.size() > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{:02}", sign, digits[0], fraction, exponent < 0 ? '-' : '+',
                       std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto n_before_point = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= n_before_point) digits.append(n_before_point + 1 - digits.size(), '0');
  return sign + digits.substr(0, n_before_point) + "." + digits.substr(n_before_point);
}

// Writes JSON as json.dumps does. Recursion is bounded by k_max_json_depth, which parsing has checked.
class JsonWriter {
 public:
  explicit JsonWriter(int indent) : indent_(indent) {}

  void write(const OrderedJson& value) {
    if (value.is_object()) {
      write_list(value, '{', '}');
    } else if (value.is_array()) {
      write_list(value, '[', ']');
    } else if (value.is_number_float()) {
      out_ += python_float(value.get<double>());
    } else {
      out_ += dump_json(value);  // strings, integers and constants look the same
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void write_list(const OrderedJson& list, char open, char close) {
    out_ += open;
    ++level_;
    bool is_first = true;
    for (const auto& [key, value] : list.items()) {
      if (!is_first) out_ += indent_ > 0 ? "," : ", ";
      is_first = false;
      break_line();
      if (list.is_object()) out_ += dump_json(OrderedJson(key)) + ": ";
      write(value);
    }
    --level_;
    if (!list.empty()) break_line();
    out_ += close;
  }
  void break_line() {
    if (indent_ > 0) out_ += "\n" + std::string(static_cast<std::size_t>(indent_ * level_), ' ');
  }

  int indent_;
  int level_ = 0;
  std::string out_;
};

}  // namespace

std::string_view python_strip(std::string_view text) {
  while (!text.empty() && is_python_space(first_character(text).code_point)) {
    text.remove_prefix(first_character(text).n_bytes);
  }
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    if (!is_python_space(first_character(text.substr(last)).code_point)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::string_view strip_leading_newlines(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

std::string_view strip_trailing_newlines(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

std::optional<std::string> python_str(const OrderedJson& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number()) return python_json(value);
  return std::nullopt;
}

std::string python_json(const OrderedJson& value, int indent) {
  JsonWriter writer(indent);
  writer.write(value);
  return writer.take();
}

}  // namespace ztvm::text
