#pragma once
// The few functions of Python's strings and json that chat templates call, so that their text comes out the
// same.
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ztvm::text {

// str.strip(): cuts white space of Unicode, and the controls 0x1C to 0x1F, from both ends of well formed
// text.
std::string_view python_strip(std::string_view text);
// str.lstrip("\n") and str.rstrip("\n").
std::string_view strip_leading_newlines(std::string_view text);
std::string_view strip_trailing_newlines(std::string_view text);

// str(value) of a string, number, bool or null; nothing for lists and objects, which no template should
// print.
std::optional<std::string> python_str(const OrderedJson& value);

// json.dumps(value, ensure_ascii=False), and with `indent` > 0 its indented form.
std::string python_json(const OrderedJson& value, int indent = 0);

}  // namespace ztvm::text
