#include "text/template_writer.hpp"

#include <fmt/format.h>

#include "text/python_text.hpp"

namespace ztvm::text {

SegmentWriter& SegmentWriter::write(Origin origin, std::string_view text) {
  if (text.empty()) return *this;
  if (segments_.empty() || segments_.back().origin != origin)
    segments_.push_back({.origin = origin, .text = {}});
  segments_.back().text += text;
  return *this;
}

const OrderedJson& MessageView::field(std::string_view key) const { return field_or_null(*message_, key); }

std::string_view MessageView::role() const {
  const OrderedJson& role = field("role");
  return role.is_string() ? std::string_view(role.get_ref<const std::string&>()) : std::string_view();
}

Result<std::string> MessageView::string_field(std::string_view key) const {
  const OrderedJson& value = field(key);
  if (value.is_string()) return value.get<std::string>();
  return refuse(fmt::format("Its {} is {}, expected a string.", key,
                            has(key) ? std::string_view(value.type_name()) : "missing"));
}

Result<std::string> MessageView::printed_field(std::string_view key) const {
  if (!has(key)) return std::string();
  if (std::optional<std::string> text = python_str(field(key))) return *std::move(text);
  return string_field(key);
}

std::unexpected<Error> MessageView::refuse(std::string_view rule) const {
  return fail(ErrorCode::invalid_argument,
              fmt::format("The {} template cannot render message {}: {}", to_string(kind_), index_, rule));
}

Result<std::vector<MessageView>> view_messages(TemplateKind kind, const OrderedJson& messages) {
  if (!messages.is_array()) return refuse_chat(kind, "They are not an array.");
  std::vector<MessageView> views;
  for (const OrderedJson& message : messages) {
    views.emplace_back(kind, views.size(), message);
    if (!message.is_object()) return views.back().refuse("It is not an object.");
  }
  return views;
}

const OrderedJson& field_or_null(const OrderedJson& object, std::string_view key) {
  static const OrderedJson k_null;
  if (!object.is_object()) return k_null;
  const auto found = object.find(key);
  return found == object.end() ? k_null : *found;
}

bool is_truthy(const OrderedJson& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

std::unexpected<Error> refuse_chat(TemplateKind kind, std::string_view rule) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("The {} template cannot render these messages: {}", to_string(kind), rule));
}

std::string_view after_last(std::string_view text, std::string_view separator) {
  const std::size_t found = text.rfind(separator);
  return found == std::string_view::npos ? text : text.substr(found + separator.size());
}

std::string_view before_first(std::string_view text, std::string_view separator) {
  return text.substr(0, text.find(separator));
}

}  // namespace ztvm::text
