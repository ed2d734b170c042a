#include "apps/bench/peer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/model_catalog.hpp"
#include "base/json.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_what = "A peer's answer";
constexpr std::string_view k_arguments = " \"$@\"";  // behind a command line, for the shell

PeerCommand script(const fs::path& path) { return {"python3", path.string()}; }

std::vector<PeerCommand> scripts_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.filename().string().starts_with("peer_") && path.extension() == ".py") paths.push_back(path);
  }
  std::ranges::sort(paths);
  std::vector<PeerCommand> peers;
  for (const fs::path& path : paths) peers.push_back(script(path));
  return peers;
}

fs::path default_folder() {
  const fs::path beside_sources = (program_folder() / "../../bench/peers").lexically_normal();
  return scripts_in(beside_sources).empty() ? fs::path("bench/peers") : beside_sources;
}

Result<bench::Samples> parse_rates(const Json& figure) {
  const auto rates = figure.find("tokens_per_s");
  if (rates == figure.end() || !rates->is_array() || rates->empty())
    return fail(ErrorCode::corrupt_file, fmt::format("{} has a figure without \"tokens_per_s\".", k_what));
  bench::Samples samples;
  for (const Json& rate : *rates) {
    if (!rate.is_number() || !std::isfinite(rate.get<double>()) || rate.get<double>() <= 0.0) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{} has {} among its \"tokens_per_s\", expected numbers above 0.", k_what,
                              dump_json(rate)));
    }
    samples.values.push_back(rate.get<double>());
  }
  return samples;
}

// The rates of a figure whose field `key` is `wanted`.
Result<bench::Samples> parse_figure(const Json& figure, std::string_view key, std::uint32_t wanted) {
  auto given = get_int(figure, key, k_what);
  if (!given) return forward(given);
  if (*given == wanted) return parse_rates(figure);
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has \"{}\" {}, expected {}.", k_what, key, *given, wanted));
}

Result<void> parse_figures(const Json& json, const bench::BenchOptions& bench, PeerAnswer& answer) {
  const auto prefill = json.find("prefill");
  const auto decode = json.find("decode");
  const bool has_all = prefill != json.end() && decode != json.end() && decode->is_array() &&
                       decode->size() == bench.depths.size();
  if (!has_all) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} lacks \"prefill\" or one \"decode\" for each of {} depths.", k_what,
                            bench.depths.size()));
  }
  auto rates = parse_figure(*prefill, "n_tokens", bench.prompt_tokens);
  if (!rates) return forward(rates);
  answer.prefill_tokens_per_s = std::move(*rates);
  for (std::size_t i = 0; i < bench.depths.size(); ++i) {
    auto at_depth = parse_figure((*decode)[i], "depth", bench.depths[i]);
    if (!at_depth) return forward(at_depth);
    answer.decode_tokens_per_s.push_back(std::move(*at_depth));
  }
  return {};
}

// As a person would type it: without the shell that a command line is handed to.
std::string shown(const PeerCommand& command) {
  const bool has_shell = command.size() > 3 && command[0] == "sh" && command[1] == "-c";
  if (!has_shell) return fmt::format("{}", fmt::join(command, " "));
  std::string line = command[2].substr(0, command[2].size() - k_arguments.size());
  for (const std::string& argument : std::span(command).subspan(4)) line += " " + argument;
  return line;
}

std::string optional_string(const Json& json, const char* key) {
  const auto field = json.find(key);
  return field != json.end() && field->is_string() ? field->get<std::string>() : "";
}

}  // namespace

std::string working_name(const PeerCommand& peer) {
  const bool is_script = peer.size() == 2;
  return is_script ? fs::path(peer.back()).stem().string() : shown(peer);
}

Result<std::vector<PeerCommand>> find_peers(const std::vector<std::string>& wanted) {
  std::vector<std::string> names = wanted;
  if (names.empty()) names.push_back(default_folder().string());
  std::vector<PeerCommand> peers;
  for (const std::string& name : names) {
    std::error_code error;
    if (fs::is_directory(name, error)) {
      const auto scripts = scripts_in(name);
      if (scripts.empty())
        return fail(ErrorCode::not_found, fmt::format("Folder \"{}\" holds no peer_*.py.", name));
      peers.insert(peers.end(), scripts.begin(), scripts.end());
    } else if (fs::is_regular_file(name, error) && name.ends_with(".py")) {
      peers.push_back(script(name));
    } else if (wanted.empty()) {
      return fail(ErrorCode::not_found, fmt::format("There is no folder \"{}\" of peers.", name));
    } else {
      peers.push_back({"sh", "-c", name + std::string(k_arguments), "sh"});
    }
  }
  return peers;
}

PeerCommand command_line(const PeerCommand& peer, const PeerTask& task, bool prepare) {
  PeerCommand command = peer;
  const auto add = [&command](const char* option, std::string value) {
    command.emplace_back(option);
    command.push_back(std::move(value));
  };
  if (task.model.empty()) {
    add("--random", task.random);
    if (task.n_layers != 0) add("--layers", std::to_string(task.n_layers));
  } else {
    add("--model", task.model);
  }
  add("--prompt-tokens", std::to_string(task.bench.prompt_tokens));
  add("--gen-tokens", std::to_string(task.bench.gen_tokens));
  add("--depths", fmt::format("{}", fmt::join(task.bench.depths, ",")));
  add("--repeat", std::to_string(task.bench.repeat));
  if (prepare) command.emplace_back("--prepare");
  return command;
}

Result<PeerAnswer> parse_peer_answer(std::string_view text, const bench::BenchOptions& bench, bool prepare) {
  auto json = parse_json(text, k_what);
  if (!json) return forward(json);
  auto name = get_string(*json, "peer", k_what);
  if (!name) return forward(name);
  PeerAnswer answer = {.name = std::move(*name),
                       .unavailable = optional_string(*json, "unavailable"),
                       .device = optional_string(*json, "device"),
                       .version = optional_string(*json, "version"),
                       .command = optional_string(*json, "command"),
                       .prefill_tokens_per_s = {},
                       .decode_tokens_per_s = {}};
  if (prepare || !answer.unavailable.empty()) return answer;
  if (auto parsed = parse_figures(*json, bench, answer); !parsed) return forward(parsed);
  return answer;
}

Result<PeerAnswer> ask_peer(const PeerCommand& peer, const PeerTask& task, bool prepare,
                            const ChildLimits& limits) {
  const PeerCommand command = command_line(peer, task, prepare);
  auto result = run_child(command, limits);
  if (!result) return forward(result);
  const std::string told = result->error_tail.empty() ? "nothing on stderr" : result->error_tail;
  if (result->timed_out) {
    return fail(ErrorCode::io,
                fmt::format("\"{}\" was stopped after {:.0f} s: {}", shown(command), limits.seconds, told));
  }
  if (result->exit_code != 0)
    return fail(ErrorCode::io,
                fmt::format("\"{}\" ends with {}: {}", shown(command), result->exit_code, told));
  auto answer = parse_peer_answer(result->output, task.bench, prepare);
  if (!answer) answer.error().text += fmt::format(" It ran as \"{}\".", shown(command));
  return answer;
}

}  // namespace ztvm::app
