#include "apps/cli/tokenize_command.hpp"

#include <CLI/Option.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/tokenize.hpp"
#include "apps/model_catalog.hpp"
#include "apps/model_source.hpp"
#include "engine/model_plan.hpp"

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

// A tokenizer.json, the folder of one with no model beside it, or a model.
Result<engine::TextParts> open_text(const std::string& source) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path = source;
  const bool is_model = is_model_folder(path);
  if (!is_model && fs::is_regular_file(path / "tokenizer.json", error)) path /= "tokenizer.json";
  if (path.extension() == ".json") {
    auto json = read_text(path);
    if (!json) return forward(json);
    return engine::read_text_parts({.tokenizer_json = std::move(*json),
                                    .tokenizer_config_json = {},
                                    .chat_template_jinja = {},
                                    .configs = {},
                                    .model_type = {}});
  }
  auto model = resolve_model(source, model_roots());
  if (!model) return forward(model);
  auto files = read_model_files(model->path);
  if (!files) return forward(files);
  auto head = engine::read_model_head(std::move(*files));
  if (!head) return forward(head);
  return std::move(head->text);
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
