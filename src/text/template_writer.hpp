#pragma once
// What the renderers of the template families share: a writer of segments, and access to the fields of
// messages.
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "text/chat_template.hpp"

namespace ztvm::text {

// Collects segments; neighbours of the same origin are joined.
class SegmentWriter {
 public:
  SegmentWriter& control(std::string_view text) { return write(Origin::chat_template, text); }
  SegmentWriter& content(std::string_view text) { return write(Origin::content, text); }
  std::vector<Segment> take() { return std::move(segments_); }

 private:
  SegmentWriter& write(Origin origin, std::string_view text);

  std::vector<Segment> segments_;
};

// One message, with errors that name the template and the position.
class MessageView {
 public:
  MessageView(TemplateKind kind, std::size_t index, const OrderedJson& message)
      : kind_(kind), index_(index), message_(&message) {}

  std::size_t index() const { return index_; }
  // The value of `key`, or null; has() tells an absent field from a null one.
  const OrderedJson& field(std::string_view key) const;
  bool has(std::string_view key) const { return message_->contains(key); }
  // "" when the role is no string: such a message has none of the known roles.
  std::string_view role() const;

  // Errors: invalid_argument when the field is no string.
  Result<std::string> string_field(std::string_view key) const;
  // {{ message.key }}: "" when absent, "None" when null. Errors: invalid_argument for lists and objects.
  Result<std::string> printed_field(std::string_view key) const;
  // invalid_argument: "The qwen3 template cannot render message 2: <rule>"
  std::unexpected<Error> refuse(std::string_view rule) const;

 private:
  TemplateKind kind_;
  std::size_t index_;
  const OrderedJson* message_;
};

// The messages as views. Errors: invalid_argument when `messages` is no array of objects.
Result<std::vector<MessageView>> view_messages(TemplateKind kind, const OrderedJson& messages);

// The value of `key`, or null when it is absent or `object` is no object.
const OrderedJson& field_or_null(const OrderedJson& object, std::string_view key);
// What `{% if value %}` says.
bool is_truthy(const OrderedJson& value);
// invalid_argument: "The qwen3 template cannot render these messages: <rule>"
std::unexpected<Error> refuse_chat(TemplateKind kind, std::string_view rule);

// Removes the last `separator` and what is before it; all of `text` if it has none. Python's
// text.split(separator)[-1].
std::string_view after_last(std::string_view text, std::string_view separator);
// Python's text.split(separator)[0].
std::string_view before_first(std::string_view text, std::string_view separator);

// The families. `messages` are views of `request.messages`.
using Messages = std::span<const MessageView>;
Result<void> render_chatml(TemplateKind kind, Messages messages, const ChatRequest& request,
                           SegmentWriter& out);
Result<void> render_phi3(TemplateKind kind, Messages messages, const ChatRequest& request,
                         SegmentWriter& out);
Result<void> render_qwen3(TemplateKind kind, Messages messages, const ChatRequest& request,
                          SegmentWriter& out);
Result<void> render_qwen3_5(TemplateKind kind, Messages messages, const ChatRequest& request,
                            SegmentWriter& out);
Result<void> render_llama3_simple(TemplateKind kind, Messages messages, const ChatRequest& request,
                                  SegmentWriter& out);
Result<void> render_llama_3_1(TemplateKind kind, Messages messages, const ChatRequest& request,
                              SegmentWriter& out);

}  // namespace ztvm::text
