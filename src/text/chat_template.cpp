#include "text/chat_template.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/in_quotes.hpp"
#include "text/template_writer.hpp"

namespace ztvm::text {
namespace {

using Renderer = Result<void> (*)(TemplateKind, Messages, const ChatRequest&, SegmentWriter&);

struct TemplateInfo {
  TemplateKind kind;
  std::string_view name;
  Renderer render;
  std::array<std::string_view, 3> end_tokens;  // those that end a turn or a text; "" for none
  std::array<std::string_view, 3> markers;     // those that every chat needs
};

constexpr std::array<std::string_view, 3> k_chatml_markers = {"<|im_start|>", "<|im_end|>"};
constexpr std::array<std::string_view, 3> k_phi3_markers = {"<|user|>", "<|assistant|>", "<|end|>"};
constexpr std::array<std::string_view, 3> k_llama3_markers = {"<|start_header_id|>", "<|end_header_id|>",
                                                              "<|eot_id|>"};

constexpr std::array k_templates = {
    TemplateInfo{TemplateKind::smollm2, "smollm2", render_chatml, {"<|im_end|>"}, k_chatml_markers},
    TemplateInfo{TemplateKind::chatml, "chatml", render_chatml, {"<|im_end|>"}, {}},
    TemplateInfo{TemplateKind::phi_3_mini_4k,
                 "phi-3-mini-4k",
                 render_phi3,
                 {"<|end|>", "<|endoftext|>", "</s>"},
                 k_phi3_markers},
    TemplateInfo{TemplateKind::phi_3_5_mini,
                 "phi-3.5-mini",
                 render_phi3,
                 {"<|end|>", "<|endoftext|>", "</s>"},
                 k_phi3_markers},
    TemplateInfo{
        TemplateKind::qwen3, "qwen3", render_qwen3, {"<|im_end|>", "<|endoftext|>"}, k_chatml_markers},
    TemplateInfo{TemplateKind::qwen3_instruct,
                 "qwen3-instruct",
                 render_qwen3,
                 {"<|im_end|>", "<|endoftext|>"},
                 k_chatml_markers},
    TemplateInfo{
        TemplateKind::qwen3_5, "qwen3.5", render_qwen3_5, {"<|im_end|>", "<|endoftext|>"}, k_chatml_markers},
    TemplateInfo{TemplateKind::llama3_simple,
                 "llama3-simple",
                 render_llama3_simple,
                 {"<|eot_id|>", "<|end_of_text|>"},
                 k_llama3_markers},
    TemplateInfo{TemplateKind::llama_3_1_instruct,
                 "llama-3.1-instruct",
                 render_llama_3_1,
                 {"<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"},
                 k_llama3_markers},
};

const TemplateInfo& info_of(TemplateKind kind) {
  const auto found = std::ranges::find(k_templates, kind, &TemplateInfo::kind);
  check(found != k_templates.end(), "every kind has an entry in k_templates");
  return *found;
}

}  // namespace

std::string_view to_string(TemplateKind kind) { return info_of(kind).name; }

Result<TemplateKind> find_template(std::string_view name) {
  const auto found = std::ranges::find(k_templates, name, &TemplateInfo::name);
  if (found != k_templates.end()) return found->kind;
  std::vector<std::string_view> names;
  for (const TemplateInfo& info : k_templates) names.push_back(info.name);
  return fail(ErrorCode::not_found, fmt::format("There is no chat template {}, expected one of {}.",
                                                in_quotes(name), fmt::join(names, ", ")));
}

Result<TemplateKind> detect_template(std::string_view jinja) {
  const auto has = [&](std::string_view marker) { return jinja.find(marker) != std::string_view::npos; };
  if (has("<|start_header_id|>")) {
    return has("Cutting Knowledge Date") ? TemplateKind::llama_3_1_instruct : TemplateKind::llama3_simple;
  }
  if (has("<|user|>") && has("<|end|>")) {
    return has("and message['content']") ? TemplateKind::phi_3_5_mini : TemplateKind::phi_3_mini_4k;
  }
  if (has("<|im_start|>")) {
    if (has("named SmolLM")) return TemplateKind::smollm2;
    if (has("<function=")) return TemplateKind::qwen3_5;
    if (has("<tool_call>") && has("enable_thinking")) return TemplateKind::qwen3;
    // A system message of its own, as Qwen 2.5 has one, or a thought that it opens is another template's.
    const bool is_plain = !has("<think>") && !has("reasoning_content") && !has("You are");
    if (has("<tools>") && has("<tool_call>") && has("<tool_response>") && is_plain) {
      return TemplateKind::qwen3_instruct;
    }
    if (!has("You are") && !has("tool")) return TemplateKind::chatml;
  }
  return fail(ErrorCode::unsupported,
              fmt::format("The model's chat template is none that this engine knows. It begins {}.",
                          in_quotes(jinja)));
}

Result<void> check_markers(const Tokenizer& tokenizer, TemplateKind kind, std::string_view file) {
  for (const std::string_view marker : info_of(kind).markers) {
    if (marker.empty() || tokenizer.find_added_token(marker)) continue;
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} has no added token \"{}\", which marks the turns of a chat in the template {}.", file,
                    marker, to_string(kind)));
  }
  return {};
}

Result<std::vector<Segment>> render_chat(TemplateKind kind, const ChatRequest& request) {
  if (!request.tools.is_null() && !request.tools.is_array())
    return refuse_chat(kind, "The tools are not an array.");
  Result<std::vector<MessageView>> messages = view_messages(kind, request.messages);
  if (!messages) return forward(messages);
  SegmentWriter out;
  if (Result<void> rendered = info_of(kind).render(kind, *messages, request, out); !rendered)
    return forward(rendered);
  return out.take();
}

std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, std::span<const Segment> segments,
                                 ChatEncoding encoding) {
  if (encoding == ChatEncoding::safe) return tokenizer.encode(segments);
  return tokenizer.encode(join(segments), AddedTokens::on);
}

std::vector<TokenId> stop_ids(const Tokenizer& tokenizer, std::optional<TemplateKind> kind,
                              std::span<const TokenId> config_ids) {
  std::vector<TokenId> ids;
  if (kind) {
    for (const std::string_view token : info_of(*kind).end_tokens) {
      if (const std::optional<TokenId> id = tokenizer.find_added_token(token)) ids.push_back(*id);
    }
  }
  if (tokenizer.eos()) ids.push_back(*tokenizer.eos());
  std::ranges::copy_if(config_ids, std::back_inserter(ids),
                       [&](TokenId id) { return tokenizer.is_added(id); });
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

}  // namespace ztvm::text
