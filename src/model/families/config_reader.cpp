#include "model/families/config_reader.hpp"

#include <fmt/format.h>

#include "base/in_quotes.hpp"

namespace ztvm::model {
namespace {

const Json* find_path(const Json& object, std::string_view key) {
  const Json* at = &object;
  while (true) {
    const std::size_t dot = key.find('.');
    if (!at->is_object()) return nullptr;
    const auto it = at->find(std::string(key.substr(0, dot)));
    if (it == at->end() || it->is_null()) return nullptr;
    if (dot == std::string_view::npos) return &*it;
    at = &*it;
    key.remove_prefix(dot + 1);
  }
}

}  // namespace

ConfigReader::Field ConfigReader::find_field(std::initializer_list<std::string_view> keys) const {
  for (const Json* object : objects_) {
    for (const std::string_view key : keys) {
      if (const Json* value = find_path(*object, key)) return {.key = key, .value = value};
    }
  }
  return {};
}

std::vector<const Json*> ConfigReader::find_all(std::string_view key) const {
  std::vector<const Json*> values;
  for (const Json* object : objects_) {
    if (const Json* value = find_path(*object, key)) values.push_back(value);
  }
  return values;
}

void ConfigReader::keep_missing(std::initializer_list<std::string_view> keys, std::string_view expected) {
  std::string names;
  for (const std::string_view key : keys) names += fmt::format("{}\"{}\"", names.empty() ? "" : " or ", key);
  keep({ErrorCode::corrupt_file, fmt::format("{} has no field {}, expected {}.", name_, names, expected)});
}

std::uint32_t ConfigReader::checked(std::string_view key, const Json& value, std::uint64_t low,
                                    std::uint64_t high) {
  const bool whole =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!whole || value.get<std::uint64_t>() < low || value.get<std::uint64_t>() > high) {
    keep({ErrorCode::corrupt_file,
          fmt::format("{} has {} in field \"{}\", expected a whole number from {} to {}.", name_,
                      shown_json(value), key, low, high)});
    return static_cast<std::uint32_t>(low);
  }
  return static_cast<std::uint32_t>(value.get<std::uint64_t>());
}

std::uint32_t ConfigReader::integer(std::initializer_list<std::string_view> keys, std::uint64_t low,
                                    std::uint64_t high) {
  if (const Field field = find_field(keys); field.value != nullptr) {
    return checked(field.key, *field.value, low, high);
  }
  keep_missing(keys, fmt::format("a whole number from {} to {}", low, high));
  return static_cast<std::uint32_t>(low);
}

std::uint32_t ConfigReader::integer_or(std::initializer_list<std::string_view> keys, std::uint32_t fallback,
                                       std::uint64_t low, std::uint64_t high) {
  const Field field = find_field(keys);
  return field.value == nullptr ? fallback : checked(field.key, *field.value, low, high);
}

double ConfigReader::checked_number(const Field& field, double low, double high) {
  const Json& value = *field.value;
  if (value.is_number() && value.get<double>() >= low && value.get<double>() <= high) {
    return value.get<double>();
  }
  keep({ErrorCode::corrupt_file, fmt::format("{} has {} in field \"{}\", expected a number from {} to {}.",
                                             name_, shown_json(value), field.key, low, high)});
  return low;
}

double ConfigReader::number(std::initializer_list<std::string_view> keys, double low, double high) {
  if (const Field field = find_field(keys); field.value != nullptr) return checked_number(field, low, high);
  keep_missing(keys, fmt::format("a number from {} to {}", low, high));
  return low;
}

double ConfigReader::number_or(std::initializer_list<std::string_view> keys, double fallback, double low,
                               double high) {
  const Field field = find_field(keys);
  return field.value == nullptr ? fallback : checked_number(field, low, high);
}

bool ConfigReader::boolean_or(std::initializer_list<std::string_view> keys, bool fallback) {
  const Field field = find_field(keys);
  if (field.value == nullptr) return fallback;
  if (field.value->is_boolean()) return field.value->get<bool>();
  keep({ErrorCode::corrupt_file, fmt::format("{} has {} in field \"{}\", expected true or false.", name_,
                                             shown_json(*field.value), field.key)});
  return fallback;
}

void ConfigReader::require(bool condition, std::string_view text) {
  if (!condition) keep({ErrorCode::unsupported, fmt::format("{} {}", name_, text)});
}

void ConfigReader::require_value(std::string_view key, const Json& expected) {
  for (const Json* value : find_all(key)) {
    if (*value == expected) continue;
    keep({ErrorCode::unsupported, fmt::format("{} has {} in field \"{}\", but this engine knows only {}.",
                                              name_, shown_json(*value), key, shown_json(expected))});
  }
}

Result<void> ConfigReader::status() const {
  if (error_.text.empty()) return {};
  return std::unexpected(error_);
}

void ConfigReader::keep(Error error) {
  if (error_.text.empty()) error_ = std::move(error);
}

}  // namespace ztvm::model
