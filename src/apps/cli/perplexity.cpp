#include "apps/cli/perplexity.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/bench_json.hpp"
#include "apps/cli/scored_set.hpp"
#include "apps/cli/terminal.hpp"
#include "apps/file_source.hpp"
#include "bench/text_quality.hpp"

namespace ztvm::app {
namespace {

struct PerplexityCommand {
  ScoredSet measured;
  std::optional<ScoredSet> base;
  std::string file;
  std::string json;
  std::uint32_t window = 512;
  std::uint32_t max_tokens = 0;  // 0: the whole text
};

Result<std::string> read_text(const std::string& path) {
  auto file = FileSource::open(path);
  if (!file) return forward(file);
  constexpr std::uint64_t k_most_bytes = 64u << 20;
  if (file->n_bytes() > k_most_bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("\"{}\" has {}, expected a text of at most {}.", path,
                            format_bytes(file->n_bytes()), format_bytes(k_most_bytes)));
  }
  std::string text(static_cast<std::size_t>(file->n_bytes()), '\0');
  if (auto read = file->read(0, std::as_writable_bytes(std::span(text))); !read) return forward(read);
  return text;
}

// A model that is open, and how its rows go through it.
struct OpenSet {
  LoadedModel model;
  std::string name;
  std::uint32_t max_rows = 0;
  bench::ScoredEngine engine() const { return {.engine = model.engine.get(), .max_rows = max_rows}; }
};

Result<OpenSet> open_set(ScoredSet set, std::uint32_t window) {
  set.model.context = window;
  auto model = load_model(set.model, [](std::uint64_t, std::uint64_t) {});
  if (!model) return forward(model);
  std::string name = describe(set, model->device->caps());
  return OpenSet{.model = std::move(*model), .name = std::move(name), .max_rows = set.max_rows};
}

struct Measured {
  std::string name;
  std::string base_name;  // empty: there is none
  std::size_t n_tokens = 0;
  bench::TextQuality quality;
};

Result<Measured> measure(const PerplexityCommand& command) {
  const auto text = read_text(command.file);
  if (!text) return std::unexpected(text.error());
  auto measured = open_set(command.measured, command.window);
  if (!measured) return forward(measured);
  std::optional<OpenSet> base;
  if (command.base) {
    auto opened = open_set(*command.base, command.window);
    if (!opened) return forward(opened);
    base = std::move(*opened);
  }
  auto ids = measured->model.engine->encode_text(*text);
  if (!ids) return forward(ids);
  if (command.max_tokens != 0) ids->resize(std::min<std::size_t>(ids->size(), command.max_tokens));
  // A last window of one token predicts nothing.
  const std::size_t n_windows =
      div_up<std::size_t>(std::max<std::size_t>(ids->size(), 2) - 1, command.window);
  const auto on_window = [&](const bench::TextQuality& so_far) {
    fmt::print(stderr, "Window {} of {}: perplexity {:.3f}", so_far.n_windows, n_windows,
               so_far.measured.perplexity());
    if (command.base) fmt::print(stderr, ", KL divergence {:.3g}", so_far.divergence.divergence.value());
    fmt::print(stderr, "\n");
  };
  auto quality = bench::measure_quality(measured->engine(), base ? base->engine() : bench::ScoredEngine{},
                                        *ids, {.window = command.window, .on_window = on_window});
  if (!quality) return forward(quality);
  return Measured{.name = measured->name,
                  .base_name = base ? base->name : std::string(),
                  .n_tokens = ids->size(),
                  .quality = *quality};
}

std::string report_text(const Measured& all) {
  const bench::TextQuality& q = all.quality;
  std::string text = fmt::format("{} tokens in {} windows, {} of them predicted.\n", all.n_tokens,
                                 q.n_windows, q.measured.surprise.n());
  const auto line = [](const bench::Likelihood& likelihood, std::string_view name) {
    return fmt::format("perplexity          {:10.4f} +- {:.4f}  {}\n", likelihood.perplexity(),
                       likelihood.perplexity_error(), name);
  };
  text += line(q.measured, all.name);
  if (all.base_name.empty()) return text;
  const bench::Divergence& d = q.divergence;
  text += line(q.base, all.base_name);
  text += fmt::format("ln of their ratio   {:10.6f} +- {:.6f}\n", d.surprise_ratio.value(),
                      d.surprise_ratio.standard_error());
  text += fmt::format("mean KL divergence  {:10.3g} +- {:.2g}, the largest {:.3g}\n", d.divergence.value(),
                      d.divergence.standard_error(), d.divergence.largest());
  text += fmt::format("same likeliest      {:8.2f} % +- {:.2f} %\n", 100.0 * d.agreement.value(),
                      100.0 * d.agreement.standard_error());
  return text;
}

Json report_json(const PerplexityCommand& command, const Measured& all) {
  const bench::TextQuality& q = all.quality;
  Json json = {{"model", command.measured.model.model},
               {"file", command.file},
               {"window", command.window},
               {"n_tokens", all.n_tokens},
               {"n_predicted", q.measured.surprise.n()},
               {"measured", all.name},
               {"perplexity", q.measured.perplexity()},
               {"perplexity_error", q.measured.perplexity_error()}};
  if (all.base_name.empty()) return json;
  const bench::Divergence& d = q.divergence;
  json["base"] = all.base_name;
  json["base_perplexity"] = q.base.perplexity();
  json["ln_ratio"] = d.surprise_ratio.value();
  json["ln_ratio_error"] = d.surprise_ratio.standard_error();
  json["mean_divergence"] = d.divergence.value();
  json["mean_divergence_error"] = d.divergence.standard_error();
  json["largest_divergence"] = d.divergence.largest();
  json["agreement"] = d.agreement.value();
  return json;
}

int perplexity(const PerplexityCommand& command) {
  const auto all = measure(command);
  if (!all) return report(all.error());
  print_now(report_text(*all));
  if (command.json.empty()) return k_exit_ok;
  const auto written = write_bench_json(command.json, report_json(command, *all));
  return written ? k_exit_ok : report(written.error());
}

}  // namespace

void add_perplexity_command(CLI::App& program, Action& action) {
  CLI::App& command = *program.add_subcommand(
      "perplexity", "Measures how well the model predicts a text, and what an option changes about that");
  auto options = std::make_shared<PerplexityCommand>();
  auto changes = std::make_shared<std::vector<std::string>>();
  options->measured.model.warn = warn;
  add_model_argument(command, options->measured.model.model);
  command.add_option("FILE", options->file, "Plain text")->required();
  command
      .add_option("--window", options->window, "Tokens of a window, each of which starts from an empty cache")
      ->check(whole_number(2, 1u << 16))
      ->capture_default_str();
  command.add_option("--tokens", options->max_tokens, "Only so many tokens of the text")
      ->check(whole_number(2, 1u << 24));
  command
      .add_option("--rows", options->measured.max_rows,
                  "Rows of a pass: 1 runs the kernels of decode; default: those of prefill")
      ->check(whole_number(1, 1u << 16));
  command
      .add_option(
          "--against", *changes,
          "Also run a base, the same but for KEY=VALUE, and tell how far the two are apart: kv=float, "
          "\"kernels=gpu f32\", backend=reference, rows=1; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command.add_option("--json", options->json, "File for all figures");
  add_backend_options(command, options->measured.model);
  command.callback([options, changes, &action] {
    if (!changes->empty()) {
      auto base = change_set(options->measured, *changes);
      if (!base) fail_usage("--against: " + base.error().text);
      options->base = std::move(*base);
    }
    action = [options] { return perplexity(*options); };
  });
}

}  // namespace ztvm::app
