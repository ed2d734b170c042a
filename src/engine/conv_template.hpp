#pragma once
// conv_template of MLC's mlc-chat-config.json, which says in terms of its own how chats are written.
//
// This engine writes them by the model's own template (text/chat_template.hpp). Where a conv_template asks for other turns,
// chats are refused. Two things of MLC's are left out on purpose, because the models' own templates do not have them: the
// ids before the prompt (system_prefix_token_ids), and the system messages that MLC's presets come with.
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::engine {

// The sentence on a conv_template that asks for other chats than `kind` writes, naming the field of `file`; empty when
// `config` has none, or one that asks for the same.
std::string conv_template_problem(const Json& config, std::string_view file, text::TemplateKind kind,
                                  const text::Tokenizer& tokenizer);

// The ids of its stop strings, as far as they are added tokens.
std::vector<text::TokenId> stop_string_ids(const Json& config, const text::Tokenizer& tokenizer);

}  // namespace ztvm::engine
