#include "apps/cli/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Option.hpp>
#include <filesystem>
#include <memory>

#include "apps/cli/fetch_console.hpp"
#include "apps/cli/terminal.hpp"
#include "apps/download/repo_files.hpp"
#include "apps/download/verify.hpp"
#include "apps/model_catalog.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

struct VerifyArguments {
  std::string folder;
  std::string mirror;
  bool repair = false;
};

// A folder, or an alias: a folder of a models folder.
Result<fs::path> find_folder(const std::string& name) {
  std::error_code error;
  if (fs::is_directory(name, error)) return fs::path(name);
  for (const fs::path& root : model_roots()) {
    if (is_plain_name(name) && fs::is_directory(root / name, error)) return root / name;
  }
  return fail(ErrorCode::not_found, fmt::format("\"{}\" is no folder and no alias of one.", name));
}

Result<VerifyReport> read_all(const fs::path& folder, bool& interrupted) {
  auto result =
      verify_folder(folder, [&](std::string_view name, std::uint64_t n_done, std::uint64_t n_total) {
        print_status(fmt::format("{}: {} of {}", name, format_bytes(n_done), format_bytes(n_total)));
        interrupted = interrupted || take_interrupt();
        return !interrupted;
      });
  print_status("");
  return result;
}

// "1 file is", "3 files are".
std::string count_files(std::size_t n_files, const char* one, const char* more) {
  return n_files == 1 ? fmt::format("1 file {}", one) : fmt::format("{} files {}", n_files, more);
}

// What the files that are right were held against: a hash that only this machine knows tells of later changes alone.
std::string told_basis(const VerifyReport& result) {
  std::string text;
  const std::size_t n_recorded = result.n_files - result.n_published - result.not_compared.size();
  if (result.n_published > 0) {
    text +=
        fmt::format("{} as the hub or the manifest publishes {} checksum.\n",
                    count_files(result.n_published, "is", "are"), result.n_published == 1 ? "its" : "their");
  }
  if (n_recorded > 0) {
    text += fmt::format(
        "{0} as this machine recorded {1} at the first download or load; no published checksum of {1} is "
        "known.\n",
        count_files(n_recorded, "is", "are"), n_recorded == 1 ? "it" : "them");
  }
  if (!result.not_compared.empty()) {
    text += fmt::format(
        "{} nothing to compare with: {}; whether weights are whole shows when they are loaded.\n",
        count_files(result.not_compared.size(), "has", "have"), fmt::join(result.not_compared, ", "));
  }
  return text;
}

int report_result(const fs::path& folder, const VerifyReport& result) {
  for (const FileFault& fault : result.faults) print_now(fmt::format("{}: {}\n", fault.name, fault.why));
  if (!result.faults.empty()) {
    const std::string advice =
        result.can_repair
            ? fmt::format("\"zerotvm verify {} --repair\" fetches them again", folder.string())
            : std::string("nothing tells where they came from; \"zerotvm download\" fetches a model anew");
    return report({ErrorCode::corrupt_file, fmt::format("{} of {} files in \"{}\" {} wrong or missing; {}.",
                                                        result.faults.size(), result.n_files, folder.string(),
                                                        result.faults.size() == 1 ? "is" : "are", advice)});
  }
  print_now(fmt::format("No file in \"{}\" is wrong ({} files, {}).\n{}", folder.string(), result.n_files,
                        format_bytes(result.n_bytes), told_basis(result)));
  if (result.newly_recorded) print_now("The sha256 of each is recorded now, for the next time.\n");
  if (!result.not_recorded.empty()) print_now(fmt::format("Nothing is recorded: {}\n", result.not_recorded));
  return k_exit_ok;
}

int repair(const fs::path& folder, const VerifyReport& result, const std::string& hub) {
  std::vector<std::string> names;
  for (const FileFault& fault : result.faults) {
    print_now(fmt::format("{}: {}\n", fault.name, fault.why));
    names.push_back(fault.name);
  }
  const auto summary = repair_folder(folder, names, hub, console_options());
  print_status("");
  if (!summary) return report(summary.error());
  if (summary->end == DownloadSummary::End::interrupted) return report_interrupted();
  print_now(fmt::format("{} file{} fetched again; all {} files in \"{}\" ({}) are as recorded.\n",
                        names.size(), names.size() == 1 ? " is" : "s are", summary->n_files, folder.string(),
                        format_bytes(summary->n_bytes)));
  return k_exit_ok;
}

int verify(const VerifyArguments& arguments) {
  auto folder = find_folder(arguments.folder);
  if (!folder) return report(folder.error());
  auto hub = chosen_hub(arguments.mirror);
  if (!hub) return report(hub.error());
  catch_interrupts();
  bool interrupted = false;
  auto result = read_all(*folder, interrupted);
  if (interrupted) return k_exit_interrupted;
  if (!result) return report(result.error());
  if (arguments.repair && !result->faults.empty()) return repair(*folder, *result, *hub);
  return report_result(*folder, *result);
}

}  // namespace

void add_verify_command(CLI::App& program, Action& action) {
  CLI::App& command =
      *program.add_subcommand("verify", "Checks the files of a model folder against their record");
  auto arguments = std::make_shared<VerifyArguments>();
  command.add_option("DIR", arguments->folder, "Model folder, or alias")->required();
  command.add_flag("--repair", arguments->repair, "Fetch what is wrong or missing again");
  command.add_option("--mirror", arguments->mirror, "Address of a hub in place of the recorded one")
      ->type_name("URL");
  command.callback([arguments, &action] { action = [arguments] { return verify(*arguments); }; });
}

}  // namespace ztvm::app
