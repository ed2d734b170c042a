#pragma once
// Chat templates as hand-written renderers: messages become segments, which say what is control and what is
// content.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "text/segment.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::text {

enum class TemplateKind : std::uint8_t {
  smollm2,
  chatml,  // smollm2 without its default system message
  phi_3_mini_4k,
  phi_3_5_mini,
  qwen3,
  qwen3_instruct,  // of 2507: qwen3 without thinking
  qwen3_5,
  llama3_simple,
  llama_3_1_instruct,
};

// "smollm2", "phi-3-mini-4k", "qwen3.5", ...
std::string_view to_string(TemplateKind kind);
// Errors: not_found, listing the names.
Result<TemplateKind> find_template(std::string_view name);
// The kind of a model's own Jinja template, told by its markers. Errors: unsupported.
Result<TemplateKind> detect_template(std::string_view jinja);

// The file lacks none of the tokens that mark roles and turns; else chats would spell them out as ordinary text. Plain
// ChatML is left out: models were fine-tuned with it as text. Errors: corrupt_file, naming token and `file`.
Result<void> check_markers(const Tokenizer& tokenizer, TemplateKind kind, std::string_view file);

// What a template renders. Messages are OpenAI's: role, content, and where the template knows them tool_calls
// and reasoning_content. Only Qwen 3.5 takes content in parts, of type text.
struct ChatRequest {
  OrderedJson messages = OrderedJson::array();
  OrderedJson tools = nullptr;  // an array, or null: none were given
  bool add_generation_prompt = false;
  std::optional<bool> enable_thinking = {};
};

// Errors: invalid_argument where the vendor's template raises or cannot print a value, naming the template,
// the message and the rule it breaks.
Result<std::vector<Segment>> render_chat(TemplateKind kind, const ChatRequest& request);

enum class ChatEncoding : std::uint8_t {
  safe,               // control tokens come from the template only
  vendor_compatible,  // the rendered text is encoded as a whole, so content that spells a control token
                      // becomes it
};
// Both give the same ids where no content spells an added token.
std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, std::span<const Segment> segments,
                                 ChatEncoding encoding);

// The ids that end an answer, ascending: what the template ends a turn with, what the tokenizer calls EOS,
// and those of `config_ids` (from config.json, generation_config.json, mlc-chat-config.json) that are added
// tokens. Published configs hold stale ids that are ordinary words of the vocabulary; those are left out.
std::vector<TokenId> stop_ids(const Tokenizer& tokenizer, std::optional<TemplateKind> kind,
                              std::span<const TokenId> config_ids);

}  // namespace ztvm::text
