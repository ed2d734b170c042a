#include "apps/cli/tokenize_command.hpp"

#include <CLI/Option.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/tokenize.hpp"
#include "apps/gguf_header.hpp"
#include "apps/model_catalog.hpp"
#include "engine/gguf_text.hpp"

namespace ztvm::app {
namespace {

struct TokenizeOptions {
  std::string source;
  bool vendor = false;
};

Result<std::string> read_text(const std::filesystem::path& path) {
  auto file = FileSource::open(path);
  if (!file) return forward(file);
  constexpr std::uint64_t k_most_bytes = 256u << 20;
  if (file->n_bytes() > k_most_bytes) {
    return fail(ErrorCode::corrupt_file, "\"" + file->name() + "\" is too long for a tokenizer.json.");
  }
  std::string text(static_cast<std::size_t>(file->n_bytes()), '\0');
  if (auto read = file->read(0, std::as_writable_bytes(std::span(text))); !read) return forward(read);
  return text;
}

// A tokenizer.json, the folder of one, or a model.
Result<engine::TextParts> open_text(const std::string& source) {
  std::error_code error;
  std::filesystem::path path = source;
  if (std::filesystem::is_regular_file(path / "tokenizer.json", error)) path /= "tokenizer.json";
  if (path.extension() == ".json") {
    auto json = read_text(path);
    if (!json) return forward(json);
    auto tokenizer = text::Tokenizer::from_json(*json);
    if (!tokenizer) return forward(tokenizer);
    return engine::TextParts{.tokenizer = std::move(*tokenizer), .chat_template = {}, .stop_ids = {}};
  }
  auto model = resolve_model(source, model_roots());
  if (!model) return forward(model);
  if (std::filesystem::is_regular_file(model->path / "tokenizer.json", error)) {
    return open_text((model->path / "tokenizer.json").string());
  }
  auto file = FileSource::open(model->path);
  if (!file) return forward(file);
  auto header = read_gguf_header(*file);
  if (!header) return forward(header);
  return engine::read_text_parts(*header);
}

int tokenize(const TokenizeOptions& options) {
  const auto parts = open_text(options.source);
  if (!parts) return report(parts.error());
  return run_tokenize(std::cin, std::cout, std::cerr, parts->tokenizer, parts->chat_template,
                      options.vendor ? text::ChatEncoding::vendor_compatible : text::ChatEncoding::safe);
}

}  // namespace

void add_tokenize_command(CLI::App& program, Action& action) {
  CLI::App& command = *program.add_subcommand("tokenize", "Answers JSON lines: {text}, {ids} or {messages}");
  auto options = std::make_shared<TokenizeOptions>();
  command.add_option("TOKENIZER_OR_MODEL", options->source, "tokenizer.json, its folder, or a model")
      ->required();
  command.add_flag("--vendor", options->vendor,
                   "Encode a rendered chat as a whole, so that content can spell control tokens");
  command.callback([options, &action] { action = [options] { return tokenize(*options); }; });
}

}  // namespace ztvm::app
