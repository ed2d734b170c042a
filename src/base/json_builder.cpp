#include "base/json_builder.hpp"

namespace ztvm {

Json& JsonBuilder::put(Json value) {
  if (open_.empty()) return root_ = std::move(value);
  if (open_.back()->is_object()) return *slot_ = std::move(value);
  auto& elements = open_.back()->get_ref<Json::array_t&>();
  return elements.emplace_back(std::move(value));
}

bool JsonBuilder::null() {
  put(nullptr);
  return true;
}

bool JsonBuilder::boolean(bool value) {
  put(value);
  return true;
}

bool JsonBuilder::number_integer(Json::number_integer_t value) {
  put(value);
  return true;
}

bool JsonBuilder::number_unsigned(Json::number_unsigned_t value) {
  put(value);
  return true;
}

bool JsonBuilder::number_float(Json::number_float_t value, const std::string&) {
  put(value);
  return true;
}

bool JsonBuilder::string(std::string& value) {
  put(std::move(value));
  return true;
}

bool JsonBuilder::binary(Json::binary_t&) { return false; }  // text holds none

bool JsonBuilder::start_object(std::size_t) {
  open_.push_back(&put(Json::object()));
  return true;
}

bool JsonBuilder::key(std::string& name) {
  const auto [entry, is_new] = open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(name));
  if (!is_new && !twice_) twice_ = entry->first;
  slot_ = &entry->second;
  return true;
}

bool JsonBuilder::end_object() {
  open_.pop_back();
  return true;
}

bool JsonBuilder::start_array(std::size_t) {
  open_.push_back(&put(Json::array()));
  return true;
}

bool JsonBuilder::end_array() {
  open_.pop_back();
  return true;
}

bool JsonBuilder::parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
  return false;
}

}  // namespace ztvm
