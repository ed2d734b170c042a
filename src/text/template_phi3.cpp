// The templates of Phi-3-mini-4k and Phi-3.5-mini, which differ in what they do with an empty system message.
#include "text/template_writer.hpp"

namespace ztvm::text {
namespace {

// The control token of a role; messages of other roles are left out.
std::string_view marker_of(std::string_view role) {
  if (role == "system") return "<|system|>";
  if (role == "user") return "<|user|>";
  if (role == "assistant") return "<|assistant|>";
  return {};
}

}  // namespace

Result<void> render_phi3(TemplateKind kind, Messages messages, const ChatRequest& request,
                         SegmentWriter& out) {
  for (const MessageView& message : messages) {
    const std::string_view marker = marker_of(message.role());
    if (marker.empty()) continue;
    const bool skips_empty = kind == TemplateKind::phi_3_5_mini && message.role() == "system";
    if (skips_empty && !is_truthy(message.field("content"))) continue;
    Result<std::string> content = message.string_field("content");
    if (!content) return forward(content);
    out.control(marker).control("\n").content(*content).control("<|end|>\n");
  }
  out.control(request.add_generation_prompt ? "<|assistant|>\n" : "<|endoftext|>");
  return {};
}

}  // namespace ztvm::text
