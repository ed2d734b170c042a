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

std::string first_of(std::initializer_list<std::string_view> keys) { return std::string(*keys.begin()); }

}  // namespace

const Json* ConfigReader::find(std::initializer_list<std::string_view> keys) const {
  for (const Json* object : objects_) {
    for (const std::string_view key : keys) {
      if (const Json* value = find_path(*object, key)) return value;
    }
  }
  return nullptr;
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
  if (const Json* value = find(keys)) return checked(*keys.begin(), *value, low, high);
  keep({ErrorCode::corrupt_file, fmt::format("{} has no field \"{}\", expected a whole number from {} to {}.",
                                             name_, first_of(keys), low, high)});
  return static_cast<std::uint32_t>(low);
}

std::uint32_t ConfigReader::integer_or(std::initializer_list<std::string_view> keys, std::uint32_t fallback,
                                       std::uint64_t low, std::uint64_t high) {
  const Json* value = find(keys);
  return value == nullptr ? fallback : checked(*keys.begin(), *value, low, high);
}

double ConfigReader::number_or(std::initializer_list<std::string_view> keys, double fallback, double low,
                               double high) {
  const Json* value = find(keys);
  if (value == nullptr) return fallback;
  if (value->is_number() && value->get<double>() >= low && value->get<double>() <= high) {
    return value->get<double>();
  }
  keep({ErrorCode::corrupt_file, fmt::format("{} has {} in field \"{}\", expected a number from {} to {}.",
                                             name_, shown_json(*value), first_of(keys), low, high)});
  return low;
}

bool ConfigReader::boolean_or(std::initializer_list<std::string_view> keys, bool fallback) {
  const Json* value = find(keys);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  keep({ErrorCode::corrupt_file, fmt::format("{} has {} in field \"{}\", expected true or false.", name_,
                                             shown_json(*value), first_of(keys))});
  return fallback;
}

void ConfigReader::require(bool condition, std::string_view text) {
  if (!condition) keep({ErrorCode::unsupported, fmt::format("{} {}", name_, text)});
}

void ConfigReader::require_value(std::string_view key, const Json& expected) {
  const Json* value = find({key});
  if (value == nullptr || *value == expected) return;
  keep({ErrorCode::unsupported, fmt::format("{} has {} in field \"{}\", but this engine knows only {}.",
                                            name_, shown_json(*value), key, shown_json(expected))});
}

Result<void> ConfigReader::status() const {
  if (error_.text.empty()) return {};
  return std::unexpected(error_);
}

void ConfigReader::keep(Error error) {
  if (error_.text.empty()) error_ = std::move(error);
}

}  // namespace ztvm::model
