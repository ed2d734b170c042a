#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "base/json_builder.hpp"

namespace ztvm {
namespace {

// Depth of brackets outside strings; cheap, and done before the parser builds anything.
bool nests_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > k_max_json_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Takes what the parser finds, and keeps where it gives up.
struct FaultFinder : nlohmann::json_sax<Json> {
  std::size_t n_read = 0;  // bytes up to the fault, the wrong one included

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    n_read = position;
    return false;
  }
};

// " at line 2, column 5, where \"x\" stands", for text that the parser refused. Columns count bytes.
std::string place_of_fault(std::string_view text) {
  FaultFinder finder;
  Json::sax_parse(text, &finder);
  const std::size_t at = std::min(std::max<std::size_t>(finder.n_read, 1) - 1, text.size());
  const std::string_view before = text.substr(0, at);
  const auto n_lines = std::ranges::count(before, '\n');
  const std::size_t column = n_lines == 0 ? at : at - before.rfind('\n') - 1;
  const std::string place = fmt::format("line {}, column {}", n_lines + 1, column + 1);
  if (at == text.size()) return fmt::format(": it ends too early, at {}", place);
  return fmt::format(" at {}, where {} stands", place, in_quotes(text.substr(at, 1)));
}

std::string_view without_bom(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

std::unexpected<Error> too_deep(std::string_view what) {
  return fail(
      ErrorCode::corrupt_file,
      fmt::format("{} nests deeper than {} levels, which no such file needs.", what, k_max_json_depth));
}

std::unexpected<Error> no_json(std::string_view text, std::string_view what) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '<') {
    return fail(ErrorCode::corrupt_file, fmt::format("{} is an HTML page, expected JSON.", what));
  }
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} ({} bytes) is not valid JSON{}.", what, text.size(), place_of_fault(text)));
}

template <typename J>
Result<J> parse(std::string_view text, std::string_view what) {
  text = without_bom(text);
  if (nests_too_deep(text)) return too_deep(what);
  J value = J::parse(text, nullptr, false);
  if (value.is_discarded()) return no_json(text, what);
  return value;
}

std::unexpected<Error> wrong_field(const Json& object, std::string_view key, std::string_view what,
                                   std::string_view wanted) {
  if (!object.is_object()) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} is a JSON {}, expected an object with \"{}\".", what,
                                                     object.type_name(), key));
  }
  const auto it = object.find(key);
  if (it == object.end()) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has no field \"{}\", expected {}.", what, key, wanted));
  }
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has a {} in field \"{}\", expected {}.", what, it->type_name(), key, wanted));
}

const Json* find(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) { return parse<Json>(text, what); }

Result<OrderedJson> parse_ordered_json(std::string_view text, std::string_view what) {
  return parse<OrderedJson>(text, what);
}

Result<Json> parse_json_unique(std::string_view text, std::string_view what) {
  text = without_bom(text);
  if (nests_too_deep(text)) return too_deep(what);
  JsonBuilder builder;
  if (!Json::sax_parse(text, &builder)) return no_json(text, what);
  if (!builder.twice()) return builder.take();
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has the key {} twice in one object.", what, in_quotes(*builder.twice())));
}

Result<std::string> get_string(const Json& object, std::string_view key, std::string_view what) {
  const Json* field = find(object, key);
  if (field == nullptr || !field->is_string()) return wrong_field(object, key, what, "a string");
  return field->get<std::string>();
}

Result<std::int64_t> get_int(const Json& object, std::string_view key, std::string_view what) {
  const Json* field = find(object, key);
  if (field == nullptr || !field->is_number_integer() ||
      (field->is_number_unsigned() && field->get<std::uint64_t>() > INT64_MAX)) {
    return wrong_field(object, key, what, "an integer below 2^63");
  }
  return field->get<std::int64_t>();
}

Result<double> get_number(const Json& object, std::string_view key, std::string_view what) {
  const Json* field = find(object, key);
  if (field == nullptr || !field->is_number()) return wrong_field(object, key, what, "a number");
  return field->get<double>();
}

Result<bool> get_bool(const Json& object, std::string_view key, std::string_view what) {
  const Json* field = find(object, key);
  if (field == nullptr || !field->is_boolean()) return wrong_field(object, key, what, "true or false");
  return field->get<bool>();
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string dump_json(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace ztvm
