// The template of Llama 3, and that of Llama 3.1 with tools.
#include <algorithm>

#include "text/python_text.hpp"
#include "text/template_writer.hpp"

namespace ztvm::text {
namespace {

// {{ message.content | trim }}
Result<std::string> trimmed_content(const MessageView& message) {
  Result<std::string> content = message.printed_field("content");
  if (!content) return content;
  return std::string(python_strip(*content));
}

void write_header(std::string_view role, SegmentWriter& out) {
  out.control("<|start_header_id|>").content(role).control("<|end_header_id|>\n\n");
}

Result<void> write_plain_message(const MessageView& message, SegmentWriter& out) {
  Result<std::string> role = message.string_field("role");
  if (!role) return forward(role);
  Result<std::string> content = trimmed_content(message);
  if (!content) return forward(content);
  write_header(*role, out);
  out.content(*content).control("<|eot_id|>");
  return {};
}

Result<void> write_tool_call(const MessageView& message, SegmentWriter& out) {
  const OrderedJson& calls = message.field("tool_calls");
  if (!calls.is_array() || calls.size() != 1) {
    return message.refuse("This model only supports single tool-calls at once!");
  }
  const OrderedJson& function = field_or_null(calls[0], "function");
  const OrderedJson& name = field_or_null(function, "name");
  if (!name.is_string() || !function.contains("arguments")) {
    return message.refuse("Its tool call has no function with a name and arguments.");
  }
  write_header("assistant", out);
  out.control("{\"name\": \"").content(name.get_ref<const std::string&>()).control("\", \"parameters\": ");
  out.content(python_json(function["arguments"])).control("}<|eot_id|>");
  return {};
}

Result<void> write_tool_result(const MessageView& message, SegmentWriter& out) {
  if (!message.has("content")) return message.refuse("Its content is missing.");
  const OrderedJson& content = message.field("content");
  const bool is_iterable = content.is_structured() || content.is_string();
  write_header("ipython", out);
  out.content(is_iterable ? python_json(content) : python_str(content).value_or(""));
  out.control("<|eot_id|>");
  return {};
}

// The first user message, with the tools before it.
Result<void> write_tools(const OrderedJson& tools, const MessageView& message, SegmentWriter& out) {
  Result<std::string> content = trimmed_content(message);
  if (!content) return forward(content);
  write_header("user", out);
  out.control(
      "Given the following functions, please respond with a JSON for a function call with its proper "
      "arguments that "
      "best answers the given prompt.\n\nRespond in the format {\"name\": function name, \"parameters\": "
      "dictionary of "
      "argument name and its value}.Do not use variables.\n\n");
  for (const OrderedJson& tool : tools) out.content(python_json(tool, 4)).control("\n\n");
  out.content(*content).control("<|eot_id|>");
  return {};
}

}  // namespace

Result<void> render_llama3_simple(TemplateKind, Messages messages, const ChatRequest& request,
                                  SegmentWriter& out) {
  for (const MessageView& message : messages) {
    if (message.index() == 0) out.control("<|begin_of_text|>");
    if (Result<void> written = write_plain_message(message, out); !written) return written;
  }
  if (request.add_generation_prompt) write_header("assistant", out);
  return {};
}

Result<void> render_llama_3_1(TemplateKind kind, Messages messages, const ChatRequest& request,
                              SegmentWriter& out) {
  if (messages.empty()) return refuse_chat(kind, "There are none.");
  const bool has_tools = !request.tools.is_null();
  std::string system_message;
  if (messages[0].role() == "system") {
    Result<std::string> content = trimmed_content(messages[0]);
    if (!content) return forward(content);
    system_message = *std::move(content);
    messages = messages.subspan(1);
  }
  out.control("<|begin_of_text|>");
  write_header("system", out);
  if (has_tools) out.control("Environment: ipython\n");
  // The date is the template's own default, so that a chat renders the same every day.
  out.control("Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n");
  out.content(system_message).control("<|eot_id|>");
  if (has_tools) {
    if (messages.empty()) {
      return refuse_chat(kind,
                         "Cannot put tools in the first user message when there's no first user message!");
    }
    if (Result<void> written = write_tools(request.tools, messages[0], out); !written) return written;
    messages = messages.subspan(1);
  }
  for (const MessageView& message : messages) {
    const bool is_result = message.role() == "tool" || message.role() == "ipython";
    Result<void> written = message.has("tool_calls") ? write_tool_call(message, out)
                           : is_result               ? write_tool_result(message, out)
                                                     : write_plain_message(message, out);
    if (!written) return written;
  }
  if (request.add_generation_prompt) write_header("assistant", out);
  return {};
}

}  // namespace ztvm::text
