#include "apps/cli/tokenize.hpp"

#include <fmt/format.h>

#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace ztvm::app {
namespace {

struct Context {
  const text::Tokenizer& tokenizer;
  std::optional<text::TemplateKind> model_template;
  text::ChatEncoding encoding;
};

// A boolean field that may be absent or null.
Result<std::optional<bool>> optional_bool(const OrderedJson& line, std::string_view key) {
  const auto found = line.find(key);
  if (found == line.end() || found->is_null()) return std::nullopt;
  if (found->is_boolean()) return found->get<bool>();
  return fail(ErrorCode::invalid_argument,
              fmt::format("The field \"{}\" is a {}, expected true or false.", key, found->type_name()));
}

Result<OrderedJson> encode_line(const OrderedJson& line, const Context& context) {
  const OrderedJson& text = line["text"];
  if (!text.is_string()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The field \"text\" is a {}, expected a string.", text.type_name()));
  }
  const auto ids = context.tokenizer.encode(text.get_ref<const std::string&>(), text::AddedTokens::on);
  return OrderedJson{{"ids", ids}};
}

Result<OrderedJson> decode_line(const OrderedJson& line, const Context& context) {
  if (!line["ids"].is_array()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The field \"ids\" is a {}, expected an array.", line["ids"].type_name()));
  }
  std::vector<text::TokenId> ids;
  for (const OrderedJson& id : line["ids"]) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::numeric_limits<text::TokenId>::max()) {
      return fail(ErrorCode::invalid_argument, fmt::format("{} is no token id; the vocabulary has {} ids.",
                                                           dump_json(id), context.tokenizer.vocab_size()));
    }
    ids.push_back(id.get<text::TokenId>());
  }
  Result<std::optional<bool>> skip_special = optional_bool(line, "skip_special");
  if (!skip_special) return forward(skip_special);
  Result<std::string> decoded = context.tokenizer.decode(ids, skip_special->value_or(false));
  if (!decoded) return forward(decoded);
  return OrderedJson{{"decoded", *std::move(decoded)}};
}

Result<text::TemplateKind> template_of(const OrderedJson& line, const Context& context) {
  const auto found = line.find("template");
  if (found != line.end() && found->is_string())
    return text::find_template(found->get_ref<const std::string&>());
  if (found != line.end() && !found->is_null()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The field \"template\" is a {}, expected a name.", found->type_name()));
  }
  if (context.model_template) return *context.model_template;
  return fail(
      ErrorCode::invalid_argument,
      "The model has no chat template that this engine knows, so the line must name one in \"template\".");
}

Result<OrderedJson> chat_line(const OrderedJson& line, const Context& context) {
  Result<text::TemplateKind> kind = template_of(line, context);
  if (!kind) return forward(kind);
  Result<std::optional<bool>> add_generation_prompt = optional_bool(line, "add_generation_prompt");
  if (!add_generation_prompt) return forward(add_generation_prompt);
  Result<std::optional<bool>> enable_thinking = optional_bool(line, "enable_thinking");
  if (!enable_thinking) return forward(enable_thinking);
  Result<std::optional<bool>> vendor = optional_bool(line, "vendor");
  if (!vendor) return forward(vendor);
  const text::ChatRequest request{.messages = line["messages"],
                                  .tools = line.contains("tools") ? line["tools"] : OrderedJson(),
                                  .add_generation_prompt = add_generation_prompt->value_or(false),
                                  .enable_thinking = *enable_thinking};
  Result<std::vector<text::Segment>> segments = text::render_chat(*kind, request);
  if (!segments) return forward(segments);
  const text::ChatEncoding encoding =
      vendor->value_or(false) ? text::ChatEncoding::vendor_compatible : context.encoding;
  return OrderedJson{{"rendered", text::join(*segments)},
                     {"ids", text::encode_chat(context.tokenizer, *segments, encoding)}};
}

Result<OrderedJson> answer(std::string_view text, std::size_t line_number, const Context& context) {
  Result<OrderedJson> line = parse_ordered_json(text, fmt::format("Line {}", line_number));
  if (!line) return line;
  if (line->is_object() && line->contains("messages")) return chat_line(*line, context);
  if (line->is_object() && line->contains("text")) return encode_line(*line, context);
  if (line->is_object() && line->contains("ids")) return decode_line(*line, context);
  return fail(ErrorCode::invalid_argument,
              fmt::format("Line {} has none of the fields \"text\", \"ids\" and \"messages\".", line_number));
}

}  // namespace

int run_tokenize(std::istream& in, std::ostream& out, std::ostream& err, const text::Tokenizer& tokenizer,
                 std::optional<text::TemplateKind> model_template, text::ChatEncoding encoding) {
  const Context context{.tokenizer = tokenizer, .model_template = model_template, .encoding = encoding};
  std::size_t n_lines = 0;
  std::size_t n_failed = 0;
  for (std::string text; std::getline(in, text);) {
    ++n_lines;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    Result<OrderedJson> result = answer(text, n_lines, context);
    if (!result) ++n_failed;
    out << dump_json(result ? *result : OrderedJson{{"error", result.error().text}}) << '\n' << std::flush;
  }
  if (n_failed == 0) return 0;
  err << fmt::format("{} of {} lines failed; their output lines say why.\n", n_failed, n_lines);
  return 1;
}

}  // namespace ztvm::app
