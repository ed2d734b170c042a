#pragma once
// Numbers of a checkpoint's JSON config, each checked against a range, so that nothing later overflows.
// Keeps the first error, so that a family reads as a list of fields.
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace ztvm::model {

class ConfigReader {
 public:
  // Fields are looked up in `objects` in order: a text_config before the whole config, for example.
  // `name` is the file, for errors. The objects outlive the reader.
  ConfigReader(std::vector<const Json*> objects, std::string name)
      : objects_(std::move(objects)), name_(std::move(name)) {}

  // The first of `keys` that is there and not null; nullptr when none is. A key "a.b" is field b of object a.
  const Json* find(std::initializer_list<std::string_view> keys) const { return find_field(keys).value; }
  // The same of one key in each of the objects.
  std::vector<const Json*> find_all(std::string_view key) const;

  std::uint32_t integer(std::initializer_list<std::string_view> keys, std::uint64_t low, std::uint64_t high);
  std::uint32_t integer_or(std::initializer_list<std::string_view> keys, std::uint32_t fallback,
                           std::uint64_t low, std::uint64_t high);
  // A field that was found already.
  std::uint32_t checked(std::string_view key, const Json& value, std::uint64_t low, std::uint64_t high);
  double number(std::initializer_list<std::string_view> keys, double low, double high);
  double number_or(std::initializer_list<std::string_view> keys, double fallback, double low, double high);
  bool boolean_or(std::initializer_list<std::string_view> keys, bool fallback);
  // Keeps an `unsupported` error "<file> <text>" unless the condition holds.
  void require(bool condition, std::string_view text);
  // The field is absent, null, or `expected` in every object; else the model is not one this engine can run.
  void require_value(std::string_view key, const Json& expected);

  Result<void> status() const;
  const std::string& name() const { return name_; }

 private:
  struct Field {
    std::string_view key;
    const Json* value = nullptr;
  };
  Field find_field(std::initializer_list<std::string_view> keys) const;
  void keep_missing(std::initializer_list<std::string_view> keys, std::string_view expected);
  double checked_number(const Field& field, double low, double high);
  void keep(Error error);

  std::vector<const Json*> objects_;
  std::string name_;
  Error error_;
};

}  // namespace ztvm::model
