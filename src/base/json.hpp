#pragma once
// JSON without exceptions: parse into nlohmann::json, then read fields with errors that name the field.
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ztvm {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keeps the order of keys, for templates and output

// Deepest nesting that is accepted: parsing is recursive-free, but users of the tree are not.
inline constexpr int k_max_json_depth = 64;

// Parses strict JSON. `what` names the source in errors ("tokenizer.json").
// Errors: corrupt_file for anything that is no JSON or nests deeper than k_max_json_depth.
Result<Json> parse_json(std::string_view text, std::string_view what);
Result<OrderedJson> parse_ordered_json(std::string_view text, std::string_view what);
// As parse_json(); also refuses an object with the same key twice, of which only one would be seen.
Result<Json> parse_json_unique(std::string_view text, std::string_view what);

// The field `key` of the object `object`, of the wanted type. Errors name `what` and `key`.
Result<std::string> get_string(const Json& object, std::string_view key, std::string_view what);
Result<std::int64_t> get_int(const Json& object, std::string_view key, std::string_view what);
Result<double> get_number(const Json& object, std::string_view key, std::string_view what);
Result<bool> get_bool(const Json& object, std::string_view key, std::string_view what);

// Serialises; bytes that are no UTF-8 become U+FFFD, so that the result is always valid JSON.
std::string dump_json(const Json& value);
std::string dump_json(const OrderedJson& value);

}  // namespace ztvm
