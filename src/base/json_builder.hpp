#pragma once
// Builds a JSON tree from a parser's events and notes a key that an object has twice. The library's own way to see keys, a
// callback, looks through an object's entries whenever one of them ends, so that a wide object takes quadratic time.
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace ztvm {

class JsonBuilder : public nlohmann::json_sax<Json> {
 public:
  // The tree, once the parser has ended well.
  Json take() { return std::move(root_); }
  // The first key that came twice in one object, if any; its last value stands in the tree.
  const std::optional<std::string>& twice() const { return twice_; }

  bool null() override;
  bool boolean(bool value) override;
  bool number_integer(Json::number_integer_t value) override;
  bool number_unsigned(Json::number_unsigned_t value) override;
  bool number_float(Json::number_float_t value, const std::string& text) override;
  bool string(std::string& value) override;
  bool binary(Json::binary_t& value) override;
  bool start_object(std::size_t n_elements) override;
  bool key(std::string& name) override;
  bool end_object() override;
  bool start_array(std::size_t n_elements) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& exception) override;

 protected:
  // Objects and arrays around the parser's position.
  std::size_t depth() const { return open_.size(); }

 private:
  Json& put(Json value);

  Json root_;
  std::vector<Json*>
      open_;              // a container does not move while it is open: its parent gets nothing new meanwhile
  Json* slot_ = nullptr;  // where the value of the last key belongs
  std::optional<std::string> twice_;
};

}  // namespace ztvm
