#include "load/json_fields.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

// The field, or a failure when it is missing or the object is none.
Result<const Json*> field(const Json& object, std::string_view key, std::string_view what,
                          std::string_view wanted) {
  if (!object.is_object()) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} is a JSON {}, expected an object with \"{}\".", what,
                                                     object.type_name(), key));
  }
  const auto it = object.find(key);
  if (it != object.end()) return &*it;
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has no field \"{}\", expected {}.", what, key, wanted));
}

std::unexpected<Error> wrong_type(const Json& value, std::string_view key, std::string_view what,
                                  std::string_view wanted) {
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has a {} in field \"{}\", expected {}.", what, value.type_name(), key, wanted));
}

constexpr std::string_view k_length = "a whole number from 0 to 2^63 - 1";

std::optional<std::uint64_t> as_length(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX)
    return value.get<std::uint64_t>();
  return std::nullopt;
}

// "the number -5": values that people look for in the file.
std::string shown(const Json& value) {
  return value.is_number() ? "the number " + value.dump() : std::string("a ") + value.type_name();
}

}  // namespace

Result<std::uint64_t> get_length(const Json& object, std::string_view key, std::string_view what) {
  auto value = field(object, key, what, k_length);
  if (!value) return forward(value);
  if (const auto length = as_length(**value)) return *length;
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has {} in field \"{}\", expected {}.", what, shown(**value), key, k_length));
}

Result<std::vector<std::uint64_t>> get_lengths(const Json& object, std::string_view key,
                                               std::string_view what) {
  auto values = get_array(object, key, what);
  if (!values) return forward(values);
  if ((*values)->size() > k_max_dims) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has {} numbers in field \"{}\", expected at most {}.", what,
                            (*values)->size(), key, k_max_dims));
  }
  std::vector<std::uint64_t> lengths;
  for (const Json& value : **values) {
    const auto length = as_length(value);
    if (!length) {
      return fail(ErrorCode::corrupt_file, fmt::format("{} has {} in field \"{}\", expected each to be {}.",
                                                       what, shown(value), key, k_length));
    }
    lengths.push_back(*length);
  }
  return lengths;
}

Result<const Json*> get_array(const Json& object, std::string_view key, std::string_view what) {
  auto value = field(object, key, what, "an array");
  if (!value || (*value)->is_array()) return value;
  return wrong_type(**value, key, what, "an array");
}

Result<const Json*> get_object(const Json& object, std::string_view key, std::string_view what) {
  auto value = field(object, key, what, "an object");
  if (!value || (*value)->is_object()) return value;
  return wrong_type(**value, key, what, "an object");
}

std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> shape) {
  std::optional<std::uint64_t> count = 1;
  for (const std::uint64_t dim : shape) {
    if (count) count = checked_mul(*count, dim);
  }
  return count;
}

bool is_plain_file_name(std::string_view name) {
  constexpr std::size_t k_max_bytes = 255;
  if (name.empty() || name.size() > k_max_bytes || name == "." || name == "..") return false;
  return !has_control_codes(name) && name.find_first_of("/\\:") == std::string_view::npos;
}

bool is_shard_name(std::string_view name) {
  return is_plain_file_name(name) && !name.ends_with(".json") && !name.ends_with(".jinja");
}

}  // namespace ztvm::load
