#pragma once
// The command `tokenize`: JSON lines in, JSON lines out.
#include <iosfwd>
#include <optional>

#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::app {

// Answers each line of `in` with one line on `out`; blank lines are passed over:
//   {"text"}                             {"ids"}, without BOS or EOS, control tokens recognised
//   {"ids", "skip_special"?: false}      {"decoded"}
//   {"messages", "add_generation_prompt"?: false, "enable_thinking"?, "tools"?, "template"?, "vendor"?}
//                                        {"rendered", "ids"}
// "template" is a name as in text::find_template(), else the model's own. "vendor": true encodes the rendered
// text as a whole, as the vendor does, instead of `encoding`. A line that cannot be answered gives {"error"},
// and the others are still answered. Returns the exit code: 0, or 1 if any line failed, which `err` then
// says.
int run_tokenize(std::istream& in, std::ostream& out, std::ostream& err, const text::Tokenizer& tokenizer,
                 std::optional<text::TemplateKind> model_template,
                 text::ChatEncoding encoding = text::ChatEncoding::safe);

}  // namespace ztvm::app
