#include "apps/cli/bench.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/bench/comparison.hpp"
#include "apps/bench/measure.hpp"
#include "apps/cli/bench_json.hpp"
#include "apps/cli/bench_load.hpp"
#include "apps/cli/bench_report.hpp"
#include "apps/cli/terminal.hpp"
#include "apps/clock.hpp"
#include "apps/model_catalog.hpp"
#include "engine/true_shapes.hpp"

namespace ztvm::app {
namespace {

struct BenchCommand {
  ModelOptions model;
  std::string random;  // alias of a shape; empty: MODEL
  std::uint32_t n_layers = 0;
  bench::BenchOptions bench;
  std::string depths_text = "0,128,2048";
  std::string json;
  std::string plot;
  bool profile = false;
  bool load = false;
  bool compare = false;
  std::vector<std::string> peers;  // empty: bench/peers
  std::uint32_t n_rounds = 3;
  std::uint32_t peer_limit_s = 300;
  bool compares() const { return compare || !peers.empty(); }
};

// A line each on stderr, so that a log tells where the time went.
void print_progress(const std::string& text) { fmt::print(stderr, "{}\n", text); }

std::unique_ptr<gpu::Device> metered(std::unique_ptr<gpu::Device> device) {
  return std::make_unique<bench::MeteredDevice>(std::move(device), now_ms);
}

Result<LoadedModel> open_random(const BenchCommand& command) {
  auto device = open_device(engine::Backend::gpu, command.model.device);
  if (!device) return forward(device);
  *device = metered(std::move(*device));
  const engine::EngineOptions options = options_for(**device, command.model);
  auto engine =
      engine::Engine::open_random(**device, command.random, {.n_layers = command.n_layers}, options);
  if (!engine) return forward(engine);
  if (auto ready = wait_until_ready(**engine); !ready) return forward(ready);
  keep_measured(**device, options, **engine, command.model.warn);
  return LoadedModel{.device = std::move(*device), .engine = std::move(*engine)};
}

bench::MeteredDevice& meter(const LoadedModel& model) {
  return static_cast<bench::MeteredDevice&>(*model.device);
}

Result<LoadedModel> open(BenchCommand command) {
  command.model.wrap_device = metered;
  return command.random.empty() ? load_model(command.model, [](std::uint64_t, std::uint64_t) {})
                                : open_random(command);
}

// One with the context that the measurement takes. Where nobody asked for one, the default may be too small.
Result<LoadedModel> open_with_room(BenchCommand command) {
  {
    auto model = open(command);
    if (!model) return model;
    const auto plan = model->engine->memory_plan();
    check(plan.has_value(), "a model that is open has its plan of memory");
    auto wider = wider_context(command.bench, command.model.context, *plan);
    if (!wider) return forward(wider);
    if (*wider == 0) return model;
    command.model.context = *wider;
  }
  return open(std::move(command));
}

struct Profile {
  engine::PassTimes prefill;
  engine::PassTimes decode;  // at the last depth
};

// On a device of its own, because timestamps slow some drivers.
Result<Profile> profile(BenchCommand command) {
  command.model.device.timestamps = true;
  auto model = open_with_room(command);
  if (!model) return forward(model);
  auto prefill = model->engine->profile_pass(command.bench.prompt_tokens, 0);
  if (!prefill) return forward(prefill);
  auto decode = model->engine->profile_pass(1, command.bench.depths.back());
  if (!decode) return forward(decode);
  return Profile{.prefill = std::move(*prefill), .decode = std::move(*decode)};
}

// Opens the model anew, so that nothing of ours is on the device while a peer runs.
Result<bench::BenchFigures> measure_once(const BenchCommand& command) {
  auto model = open_with_room(command);
  if (!model) return forward(model);
  auto figures = measure(meter(*model), *model->engine, command.bench);
  if (!figures) return figures;
  figures->kernels = gpu::describe(command.model.target.value_or(gpu::choose_target(model->device->caps())));
  if (command.model.kv == model::KvType::int8) figures->kernels += ", int8 KV cache";
  return figures;
}

Result<CompareOptions> compare_options(const BenchCommand& command) {
  auto peers = find_peers(command.peers);
  if (!peers) return forward(peers);
  CompareOptions options = {
      .task = {.model = {}, .random = command.random, .n_layers = command.n_layers, .bench = command.bench},
      .peers = std::move(*peers),
      .n_rounds = command.n_rounds,
      .limits = {.seconds = static_cast<double>(command.peer_limit_s), .interrupted = take_interrupt},
      .on_progress = print_progress};
  if (command.model.model.empty()) return options;
  auto path = resolve_model(command.model.model, model_roots());
  if (!path) return forward(path);
  options.task.model = path->path.string();
  return options;
}

Result<void> measure_all(const BenchCommand& command, bench::BenchFigures& figures,
                         std::optional<Comparison>& comparison) {
  const auto measure_ours = [&command] { return measure_once(command); };
  if (command.compares()) {
    auto options = compare_options(command);
    if (!options) return forward(options);
    catch_interrupts();
    auto compared = compare(*options, measure_ours, figures);
    if (!compared) return forward(compared);
    comparison = std::move(*compared);
  } else {
    auto measured = measure_ours();
    if (!measured) return forward(measured);
    figures = std::move(*measured);
  }
  return bench::check_roofline(figures);
}

std::string model_name(const BenchCommand& command) {
  return command.random.empty() ? command.model.model : command.random + " with random weights";
}

// What a run leaves behind.
struct Report {
  bench::BenchFigures figures;
  std::optional<Comparison> comparison;
  std::optional<Profile> profile;
};

Json report_json(const BenchCommand& command, const Report& all) {
  Json json = bench::figures_json(all.figures);
  json["model"] = model_name(command);
  if (command.n_layers != 0) json["n_layers"] = command.n_layers;
  json["n_gen_tokens"] = command.bench.gen_tokens;
  if (all.comparison) json["comparison"] = comparison_json(*all.comparison);
  if (all.profile) {
    json["prefill_kernels"] = bench::profile_json(all.profile->prefill.kernels);
    json["prefill_gpu_ms"] = all.profile->prefill.whole_ms;
    json["decode_gpu_ms"] = all.profile->decode.whole_ms;
    json["decode_kernels"] = bench::profile_json(all.profile->decode.kernels);
  }
  return json;
}

std::string report_svg(const BenchCommand& command, const Report& all) {
  Plot plot = plot_of(all.figures, all.comparison ? &*all.comparison : nullptr);
  plot.title = fmt::format("{}: decode", model_name(command));
  if (all.profile) {
    plot.bars = plot_bars(all.profile->decode.kernels);
    plot.bars_title = fmt::format("Kernels of a token at depth {}", command.bench.depths.back());
  }
  return plot_svg(plot);
}

Result<void> write_files(const BenchCommand& command, const Report& all) {
  if (!command.json.empty()) {
    if (auto written = write_bench_json(command.json, report_json(command, all)); !written) return written;
  }
  return command.plot.empty() ? Result<void>{} : write_bench_text(command.plot, report_svg(command, all));
}

Result<void> measure_and_report(const BenchCommand& command) {
  Report all;
  if (auto measured = measure_all(command, all.figures, all.comparison); !measured) return measured;
  print_figures(all.figures);
  if (all.comparison) print_comparison(*all.comparison);
  // Now, lest a profile that fails takes the figures along, and again with it.
  auto written = write_files(command, all);
  if (written && all.comparison) written = check_named_peers(*all.comparison, command.peers);
  if (!written || !command.profile) return written;
  auto times = profile(command);
  if (!times) return forward(times);
  print_profile("prefill", times->prefill, all.figures.stream_gb_per_s);
  print_profile("decode", times->decode, all.figures.stream_gb_per_s);
  print_idle(all.figures.decode.back(), times->decode.whole_ms);
  all.profile = std::move(*times);
  return write_files(command, all);
}

int bench(const BenchCommand& command) {
  if (command.load) return bench_load(command.model, command.bench.repeat, command.json);
  auto done = measure_and_report(command);
  return done ? k_exit_ok : report(done.error());
}

void add_compare_options(CLI::App& command, BenchCommand& options) {
  command.add_flag("--compare", options.compare,
                   "Take peers (other engines on this machine) in turn with our own measurement");
  command
      .add_option(
          "--peer", options.peers,
          "Compare with this one: a folder of peer_*.py (default: bench/peers), one of them, or a command "
          "line; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PEER");
  command.add_option("--rounds", options.n_rounds, "With --compare: turns of each")
      ->check(whole_number(1, 100))
      ->capture_default_str();
  command.add_option("--peer-limit", options.peer_limit_s, "Seconds after which a peer's turn is stopped")
      ->check(whole_number(1, 86400))
      ->capture_default_str();
}

}  // namespace

void add_bench_command(CLI::App& program, Action& action) {
  CLI::App& command = *program.add_subcommand("bench", "Measures prefill and decode beside a streaming read");
  auto options = std::make_shared<BenchCommand>();
  options->model.record = false;  // hashing would be measured along
  auto* model = command.add_option("MODEL", options->model.model, "Alias, folder or .gguf");
  auto* random =
      command.add_option("--random", options->random, "Shape of a published model, with random weights");
  model->excludes(random);
  std::vector<std::string> aliases(engine::true_shape_aliases().begin(), engine::true_shape_aliases().end());
  random->check(CLI::IsMember(aliases));
  command.add_option("--layers", options->n_layers, "With --random: only so many layers")
      ->check(whole_number(1, 1024))
      ->needs(random);
  command
      .add_option("--prompt-tokens", options->bench.prompt_tokens, "Tokens of the prefill that is measured")
      ->check(whole_number(1, 1u << 20));
  command.add_option("--gen-tokens", options->bench.gen_tokens, "Tokens that are decoded")
      ->check(whole_number(2, 1u << 16));
  command.add_option("--depth", options->depths_text, "Tokens before those that are decoded: 0,128,2048");
  command.add_option("--repeat", options->bench.repeat, "Measurements of each figure")
      ->check(whole_number(1, 1000));
  command.add_option("--json", options->json, "File for all figures");
  command.add_option("--plot", options->plot,
                     "SVG file: decode against depth, and with --profile each kernel beside the stream");
  command.add_flag("--profile", options->profile, "Also time each kind of op, at the last depth");
  command
      .add_flag("--load", options->load,
                "Instead: how fast weights come onto the device, beside a plain read of their files")
      ->excludes(random);
  add_compare_options(command, *options);
  add_context_option(command, options->model.context);
  add_device_options(command, options->model.device);
  add_kernels_option(command, options->model.target);
  add_kv_option(command, options->model.kv);
  add_autotune_option(command, options->model.autotune);
  command.callback([options, &action] {
    if (options->model.model.empty() && options->random.empty()) fail_usage("bench needs MODEL or --random.");
    auto depths = parse_ids(options->depths_text, "depth");
    if (!depths) fail_usage("--depth: " + depths.error().text);
    options->bench.depths = std::move(*depths);
    action = [options] { return bench(*options); };
  });
}

}  // namespace ztvm::app
