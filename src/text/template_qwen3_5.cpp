// Qwen 3.5's template: ChatML with tools as XML; content is trimmed, and an answer may begin inside its
// reasoning.
#include <fmt/format.h>

#include "base/in_quotes.hpp"
#include "text/python_text.hpp"
#include "text/template_writer.hpp"

namespace ztvm::text {
namespace {

constexpr std::string_view k_tools_intro =
    "# Tools\n\nYou have access to the following functions:\n\n<tools>";
constexpr std::string_view k_tools_outro =
    "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
    "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple "
    "lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n- Function calls MUST follow the "
    "specified "
    "format: an inner <function=...></function> block must be nested within <tool_call></tool_call> XML "
    "tags\n"
    "- Required parameters MUST be specified\n- You may provide optional reasoning for your function call in "
    "natural "
    "language BEFORE the function call, but NOT after\n- If there is no function call available, answer the "
    "question "
    "like normal with your current knowledge and do not tell the user about function calls\n</IMPORTANT>";

// The text of one part of a content array.
Result<std::string> part_text(const MessageView& message, const OrderedJson& part) {
  const auto is_of = [&](std::string_view kind) {
    return part.contains(kind) || field_or_null(part, "type") == kind;
  };
  if (!part.is_object()) return message.refuse("Unexpected item type in content.");
  if (is_of("image") || part.contains("image_url") || is_of("video")) {
    if (message.role() == "system") {
      return message.refuse(is_of("video") ? "System message cannot contain videos."
                                           : "System message cannot contain images.");
    }
    return message.refuse("Its content holds an image or a video, and this engine reads text only.");
  }
  const OrderedJson& text = field_or_null(part, "text");
  if (!text.is_string()) return message.refuse("Unexpected item type in content.");
  return text.get<std::string>();
}

// The template's render_content(...) | trim.
Result<std::string> trimmed_content(const MessageView& message) {
  const OrderedJson& content = message.field("content");
  std::string text;
  if (content.is_string()) {
    text = content.get<std::string>();
  } else if (content.is_array()) {
    for (const OrderedJson& part : content) {
      Result<std::string> piece = part_text(message, part);
      if (!piece) return piece;
      text += *piece;
    }
  } else if (!content.is_null()) {
    return message.refuse("Unexpected content type.");
  }
  return std::string(python_strip(text));
}

bool is_tool_response(std::string_view content) {
  return content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
}

// The index of the last user message that is no tool response.
Result<std::size_t> find_last_query(TemplateKind kind, Messages messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (messages[i].role() != "user") continue;
    Result<std::string> content = trimmed_content(messages[i]);
    if (!content) return forward(content);
    if (!is_tool_response(*content)) return i;
  }
  return refuse_chat(kind, "No user query found in messages.");
}

Result<void> write_system(Messages messages, const OrderedJson& tools, SegmentWriter& out) {
  const bool has_tools = is_truthy(tools);
  const bool has_system = messages[0].role() == "system";
  if (!has_tools && !has_system) return {};
  out.control("<|im_start|>system\n");
  if (has_tools) {
    out.control(k_tools_intro);
    for (const OrderedJson& tool : tools) out.control("\n").content(python_json(tool));
    out.control(k_tools_outro);
  }
  if (has_system) {
    Result<std::string> content = trimmed_content(messages[0]);
    if (!content) return forward(content);
    if (has_tools && !content->empty()) out.control("\n\n");
    out.content(*content);
  }
  out.control("<|im_end|>\n");
  return {};
}

Result<void> write_arguments(const MessageView& message, const OrderedJson& arguments, SegmentWriter& out) {
  if (!arguments.is_object()) return message.refuse("The arguments of its tool call are not an object.");
  for (const auto& [name, value] : arguments.items()) {
    out.control("<parameter=").content(name).control(">\n");
    out.content(value.is_structured() ? python_json(value) : python_str(value).value_or(""));
    out.control("\n</parameter>\n");
  }
  return {};
}

Result<void> write_tool_calls(const MessageView& message, bool has_content, SegmentWriter& out) {
  const OrderedJson& calls = message.field("tool_calls");
  if (!calls.is_array()) return {};
  bool is_first = true;
  for (const OrderedJson& entry : calls) {
    const bool has_function = entry.is_object() && entry.contains("function");
    const OrderedJson& call = has_function ? entry["function"] : entry;
    const OrderedJson& name = field_or_null(call, "name");
    if (!name.is_string()) return message.refuse("The function of its tool call has no name.");
    if (!is_first || has_content) out.control(is_first ? "\n\n" : "\n");
    out.control("<tool_call>\n<function=").content(name.get_ref<const std::string&>()).control(">\n");
    if (call.contains("arguments")) {
      if (Result<void> written = write_arguments(message, call["arguments"], out); !written) return written;
    }
    out.control("</function>\n</tool_call>");
    is_first = false;
  }
  return {};
}

Result<void> write_assistant(const MessageView& message, std::string content, bool is_current,
                             SegmentWriter& out) {
  std::string reasoning;
  if (message.field("reasoning_content").is_string()) {
    reasoning = message.field("reasoning_content").get<std::string>();
  } else if (content.find("</think>") != std::string::npos) {
    const std::string_view thought = strip_trailing_newlines(before_first(content, "</think>"));
    reasoning = strip_leading_newlines(after_last(thought, "<think>"));
    content = std::string(strip_leading_newlines(after_last(content, "</think>")));
  }
  out.control("<|im_start|>assistant\n");
  if (is_current) out.control("<think>\n").content(python_strip(reasoning)).control("\n</think>\n\n");
  out.content(content);
  const bool has_content = !python_strip(content).empty();
  if (Result<void> written = write_tool_calls(message, has_content, out); !written) return written;
  out.control("<|im_end|>\n");
  return {};
}

// Neighbouring tool results share one user turn, which opens only after another message.
void write_tool_result(Messages messages, std::size_t i, std::string_view content, SegmentWriter& out) {
  if (i > 0 && messages[i - 1].role() != "tool") out.control("<|im_start|>user");
  out.control("\n<tool_response>\n").content(content).control("\n</tool_response>");
  if (i + 1 == messages.size() || messages[i + 1].role() != "tool") out.control("<|im_end|>\n");
}

}  // namespace

Result<void> render_qwen3_5(TemplateKind kind, Messages messages, const ChatRequest& request,
                            SegmentWriter& out) {
  if (messages.empty()) return refuse_chat(kind, "No messages provided.");
  if (Result<void> written = write_system(messages, request.tools, out); !written) return written;
  Result<std::size_t> last_query = find_last_query(kind, messages);
  if (!last_query) return forward(last_query);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageView& message = messages[i];
    Result<std::string> content = trimmed_content(message);
    if (!content) return forward(content);
    if (message.role() == "system") {
      if (i > 0) return message.refuse("System message must be at the beginning.");
    } else if (message.role() == "user") {
      out.control("<|im_start|>user\n").content(*content).control("<|im_end|>\n");
    } else if (message.role() == "assistant") {
      Result<void> written = write_assistant(message, *std::move(content), i > *last_query, out);
      if (!written) return written;
    } else if (message.role() == "tool") {
      write_tool_result(messages, i, *content, out);
    } else {
      return message.refuse(fmt::format("Unexpected message role. It is {}.", in_quotes(message.role())));
    }
  }
  if (!request.add_generation_prompt) return {};
  out.control("<|im_start|>assistant\n");
  out.control(request.enable_thinking == false ? "<think>\n\n</think>\n\n" : "<think>\n");
  return {};
}

}  // namespace ztvm::text
