// Qwen 3's template: ChatML with tools as JSON and reasoning kept only since the last question. That of the instruct models
// of 2507 knows no reasoning: an assistant's message is its content.
#include "text/python_text.hpp"
#include "text/template_writer.hpp"

namespace ztvm::text {
namespace {

constexpr std::string_view k_tools_intro =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with "
    "function "
    "signatures within <tools></tools> XML tags:\n<tools>";
constexpr std::string_view k_tools_outro =
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "
    "<args-json-object>}\n</tool_call><|im_end|>\n";

bool is_tool_response(std::string_view content) {
  return content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
}

// The index of the last user message that is no tool response; the last message if there is none.
Result<std::size_t> find_last_query(Messages messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (messages[i].role() != "user") continue;
    Result<std::string> content = messages[i].string_field("content");
    if (!content) return forward(content);
    if (!is_tool_response(*content)) return i;
  }
  return messages.size() - 1;
}

Result<void> write_system(Messages messages, const OrderedJson& tools, SegmentWriter& out) {
  const bool has_system = messages[0].role() == "system";
  if (!has_system && !is_truthy(tools)) return {};
  out.control("<|im_start|>system\n");
  if (has_system) {
    Result<std::string> content = messages[0].string_field("content");
    if (!content) return forward(content);
    out.content(*content).control(is_truthy(tools) ? "\n\n" : "<|im_end|>\n");
  }
  if (!is_truthy(tools)) return {};
  out.control(k_tools_intro);
  for (const OrderedJson& tool : tools) out.control("\n").content(python_json(tool));
  out.control(k_tools_outro);
  return {};
}

// What an assistant's message says, apart from what it thought before.
struct Answer {
  std::string reasoning;
  std::string content;
};

Result<Answer> split_answer(const MessageView& message) {
  Result<std::string> content = message.string_field("content");
  if (!content) return forward(content);
  if (!message.field("reasoning_content").is_null()) {
    Result<std::string> reasoning = message.string_field("reasoning_content");
    if (!reasoning) return forward(reasoning);
    return Answer{.reasoning = *std::move(reasoning), .content = *std::move(content)};
  }
  if (content->find("</think>") == std::string::npos)
    return Answer{.reasoning = {}, .content = *std::move(content)};
  const std::string_view thought = strip_trailing_newlines(before_first(*content, "</think>"));
  return Answer{.reasoning = std::string(strip_leading_newlines(after_last(thought, "<think>"))),
                .content = std::string(strip_leading_newlines(after_last(*content, "</think>")))};
}

Result<void> write_tool_calls(const MessageView& message, bool has_content, SegmentWriter& out) {
  const OrderedJson& calls = message.field("tool_calls");
  if (!is_truthy(calls)) return {};
  if (!calls.is_array()) return message.refuse("Its tool_calls are not an array.");
  bool is_first = true;
  for (const OrderedJson& entry : calls) {
    const OrderedJson& function = field_or_null(entry, "function");
    const OrderedJson& call = is_truthy(function) ? function : entry;
    const std::optional<std::string> name =
        call.is_object() && call.contains("name") ? python_str(call["name"]) : std::optional<std::string>("");
    if (!name || !call.is_object() || !call.contains("arguments")) {
      return message.refuse("A tool call of it has no name or no arguments.");
    }
    const OrderedJson& arguments = call["arguments"];
    if (has_content || !is_first) out.control("\n");
    out.control("<tool_call>\n{\"name\": \"").content(*name).control("\", \"arguments\": ");
    out.content(arguments.is_string() ? arguments.get<std::string>() : python_json(arguments));
    out.control("}\n</tool_call>");
    is_first = false;
  }
  return {};
}

Result<Answer> plain_answer(const MessageView& message) {
  Result<std::string> content = message.string_field("content");
  if (!content) return forward(content);
  return Answer{.reasoning = {}, .content = *std::move(content)};
}

Result<void> write_assistant(const MessageView& message, bool thinks, bool is_current, bool is_last,
                             SegmentWriter& out) {
  Result<Answer> answer = thinks ? split_answer(message) : plain_answer(message);
  if (!answer) return forward(answer);
  out.control("<|im_start|>assistant\n");
  if (thinks && is_current && (is_last || !answer->reasoning.empty())) {
    out.control("<think>\n").content(strip_leading_newlines(strip_trailing_newlines(answer->reasoning)));
    out.control("\n</think>\n\n").content(strip_leading_newlines(answer->content));
  } else {
    out.content(answer->content);
  }
  if (Result<void> written = write_tool_calls(message, !answer->content.empty(), out); !written)
    return written;
  out.control("<|im_end|>\n");
  return {};
}

// Neighbouring tool results share one user turn.
Result<void> write_tool_result(Messages messages, std::size_t i, SegmentWriter& out) {
  Result<std::string> content = messages[i].printed_field("content");
  if (!content) return forward(content);
  if (i == 0 || messages[i - 1].role() != "tool") out.control("<|im_start|>user");
  out.control("\n<tool_response>\n").content(*content).control("\n</tool_response>");
  if (i + 1 == messages.size() || messages[i + 1].role() != "tool") out.control("<|im_end|>\n");
  return {};
}

Result<void> write_plain_message(const MessageView& message, SegmentWriter& out) {
  Result<std::string> content = message.string_field("content");
  if (!content) return forward(content);
  out.control("<|im_start|>").control(message.role()).control("\n").content(*content).control("<|im_end|>\n");
  return {};
}

}  // namespace

Result<void> render_qwen3(TemplateKind kind, Messages messages, const ChatRequest& request,
                          SegmentWriter& out) {
  if (messages.empty()) return refuse_chat(kind, "There are none.");
  const bool thinks = kind == TemplateKind::qwen3;
  if (Result<void> written = write_system(messages, request.tools, out); !written) return written;
  Result<std::size_t> last_query = find_last_query(messages);
  if (!last_query) return forward(last_query);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string_view role = messages[i].role();
    Result<void> written;
    if (role == "user" || (role == "system" && i > 0)) {
      written = write_plain_message(messages[i], out);
    } else if (role == "assistant") {
      written = write_assistant(messages[i], thinks, i > *last_query, i + 1 == messages.size(), out);
    } else if (role == "tool") {
      written = write_tool_result(messages, i, out);
    }
    if (!written) return written;
  }
  if (!request.add_generation_prompt) return {};
  out.control("<|im_start|>assistant\n");
  if (thinks && request.enable_thinking == false) out.control("<think>\n\n</think>\n\n");
  return {};
}

}  // namespace ztvm::text
