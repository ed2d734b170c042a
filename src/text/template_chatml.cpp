// SmolLM2's template, and plain ChatML.
#include "text/template_writer.hpp"

namespace ztvm::text {

Result<void> render_chatml(TemplateKind kind, Messages messages, const ChatRequest& request,
                           SegmentWriter& out) {
  for (const MessageView& message : messages) {
    if (kind == TemplateKind::smollm2 && message.index() == 0 && message.role() != "system") {
      out.control(
          "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
          "Face<|im_end|>\n");
    }
    Result<std::string> role = message.string_field("role");
    if (!role) return forward(role);
    Result<std::string> content = message.string_field("content");
    if (!content) return forward(content);
    out.control("<|im_start|>").content(*role).control("\n").content(*content).control("<|im_end|>\n");
  }
  if (request.add_generation_prompt) out.control("<|im_start|>assistant\n");
  return {};
}

}  // namespace ztvm::text
