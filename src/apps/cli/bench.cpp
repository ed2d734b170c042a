#include "apps/cli/bench.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/bench/measure.hpp"
#include "apps/cli/bench_json.hpp"
#include "apps/cli/bench_load.hpp"
#include "apps/cli/terminal.hpp"
#include "apps/clock.hpp"
#include "engine/true_shapes.hpp"

namespace ztvm::app {
namespace {

struct BenchCommand {
  ModelOptions model;
  std::string random;  // alias of a shape; empty: MODEL
  std::uint32_t n_layers = 0;
  BenchOptions bench;
  std::string depths_text = "0,128,2048";
  std::string json;
  bool profile = false;
  bool load = false;
};

std::unique_ptr<gpu::Device> metered(std::unique_ptr<gpu::Device> device) {
  return std::make_unique<MeteredDevice>(std::move(device));
}

Result<LoadedModel> open_random(const BenchCommand& command) {
  auto device = open_device(engine::Backend::gpu, command.model.adapter, command.model.timestamps);
  if (!device) return forward(device);
  *device = metered(std::move(*device));
  auto engine = engine::Engine::open_random(
      **device, command.random, {.n_layers = command.n_layers},
      {.context = command.model.context, .target = command.model.target, .now_ms = now_ms});
  if (!engine) return forward(engine);
  if (auto ready = wait_until_ready(**engine); !ready) return forward(ready);
  return LoadedModel{.device = std::move(*device), .engine = std::move(*engine)};
}

std::string figure(const Samples& samples, std::string_view unit) {
  return fmt::format("{:9.1f} {} (spread {:.0f} %)", samples.median(), unit, 100.0 * samples.spread());
}

// A rate above what the memory gives is a fault of the measurement, never a result.
Result<void> check_roofline(const BenchFigures& figures) {
  for (const DecodeFigure& decode : figures.decode) {
    const double gb_per_s = decode.tokens_per_s.median() * static_cast<double>(decode.bytes_per_token) / 1e9;
    // Models that fit a cache may exceed the memory's rate; the stream is of a buffer that does not.
    constexpr std::uint64_t k_cache_bytes = 256u << 20;
    if (gb_per_s <= figures.stream_gb_per_s || decode.bytes_per_token < k_cache_bytes) continue;
    return fail(
        ErrorCode::device,
        fmt::format(
            "Decode at depth {} would read {:.0f} GB/s, above the {:.0f} GB/s of a streaming read, so the "
            "measurement is wrong.",
            decode.depth, gb_per_s, figures.stream_gb_per_s));
  }
  return {};
}

void print_figures(const BenchFigures& figures, const LoadedModel& model) {
  const gpu::Caps& caps = model.device->caps();
  print_now(fmt::format("{}, {}\nstream       {:9.1f} GB/s\nprefill {:4} {}, first token after {:.1f} ms\n",
                        caps.adapter, caps.driver, figures.stream_gb_per_s, figures.prefill.n_tokens,
                        figure(figures.prefill.tokens_per_s, "tokens/s"), figures.prefill.ttft_ms.median()));
  for (const DecodeFigure& decode : figures.decode) {
    const double gb_per_s = decode.tokens_per_s.median() * static_cast<double>(decode.bytes_per_token) / 1e9;
    print_now(fmt::format(
        "decode @{:<4} {}, {:.1f} in all, {:.2f} GB a token, {:.0f} GB/s = {:.1f} % of the stream\n",
        decode.depth, figure(decode.tokens_per_s, "tokens/s"), decode.total_tokens_per_s.median(),
        static_cast<double>(decode.bytes_per_token) / 1e9, gb_per_s,
        100.0 * gb_per_s / figures.stream_gb_per_s));
    print_now(fmt::format(
        "             {} dispatches and {} submits a token, {:.3f} ms of the host in them\n",
        decode.host_per_token.n_dispatches, decode.host_per_token.n_submits, decode.host_per_token.ms));
  }
}

void print_profile(std::string_view pass, std::span<const engine::KernelTime> times, double stream_gb_per_s) {
  double total = 0.0;
  for (const engine::KernelTime& time : times) total += time.ms;
  print_now(fmt::format("\n{:<26} {:>5} {:>10} {:>9} {:>7} {:>9} {:>9}\n", pass, "n", "ms/pass", "us each",
                        "share", "GB/s", "of stream"));
  for (const engine::KernelTime& time : times) {
    const double gb_per_s = static_cast<double>(time.n_bytes) / time.ms / 1e6;
    print_now(fmt::format("{:<26} {:>5} {:>10.4f} {:>9.2f} {:>6.1f}%", time.name, time.n_ops, time.ms,
                          1000.0 * time.ms / time.n_ops, 100.0 * time.ms / total));
    print_now(time.n_bytes < (1u << 20)
                  ? "\n"
                  : fmt::format(" {:>9.0f} {:>8.1f}%\n", gb_per_s, 100.0 * gb_per_s / stream_gb_per_s));
  }
  print_now(fmt::format("{:<26} {:>5} {:>10.4f}\n", "all", "", total));
}

Json figures_json(const BenchFigures& figures, const LoadedModel& model) {
  const gpu::Caps& caps = model.device->caps();
  Json json{{"adapter", caps.adapter},
            {"driver", caps.driver},
            {"stream_gb_per_s", figures.stream_gb_per_s},
            {"prefill",
             {{"n_tokens", figures.prefill.n_tokens},
              {"tokens_per_s", samples_json(figures.prefill.tokens_per_s)},
              {"ttft_ms", samples_json(figures.prefill.ttft_ms)}}},
            {"decode", Json::array()}};
  for (const DecodeFigure& decode : figures.decode) {
    json["decode"].push_back({{"depth", decode.depth},
                              {"tokens_per_s", samples_json(decode.tokens_per_s)},
                              {"total_tokens_per_s", samples_json(decode.total_tokens_per_s)},
                              {"bytes_per_token", decode.bytes_per_token},
                              {"dispatches_per_token", decode.host_per_token.n_dispatches},
                              {"submits_per_token", decode.host_per_token.n_submits},
                              {"host_ms_per_token", decode.host_per_token.ms}});
  }
  return json;
}

Json profile_json(std::span<const engine::KernelTime> times) {
  Json json = Json::array();
  for (const engine::KernelTime& time : times)
    json.push_back({{"name", time.name}, {"n_ops", time.n_ops}, {"ms", time.ms}, {"n_bytes", time.n_bytes}});
  return json;
}

MeteredDevice& meter(const LoadedModel& model) { return static_cast<MeteredDevice&>(*model.device); }

Result<LoadedModel> open(BenchCommand command) {
  command.model.wrap_device = metered;
  return command.random.empty() ? load_model(command.model, [](std::uint64_t, std::uint64_t) {})
                                : open_random(command);
}

struct Profile {
  std::vector<engine::KernelTime> prefill;
  std::vector<engine::KernelTime> decode;  // at the last depth
};

// On a device of its own, because timestamps slow some drivers.
Result<Profile> profile(BenchCommand command) {
  command.model.timestamps = true;
  auto model = open(command);
  if (!model) return forward(model);
  auto prefill = model->engine->profile_pass(command.bench.prompt_tokens, 0);
  if (!prefill) return forward(prefill);
  auto decode = model->engine->profile_pass(1, command.bench.depths.back());
  if (!decode) return forward(decode);
  return Profile{.prefill = std::move(*prefill), .decode = std::move(*decode)};
}

int bench(const BenchCommand& command) {
  if (command.load) return bench_load(command.model, command.bench.repeat, command.json);
  auto model = open(command);
  if (!model) return report(model.error());
  auto figures = measure(meter(*model), *model->engine, command.bench);
  if (!figures) return report(figures.error());
  if (auto sane = check_roofline(*figures); !sane) return report(sane.error());
  print_figures(*figures, *model);
  Json json = figures_json(*figures, *model);
  if (command.profile) {
    // Closed first: two of a large model may not fit the adapter.
    model->engine.reset();
    model->device.reset();
    auto times = profile(command);
    if (!times) return report(times.error());
    print_profile("prefill", times->prefill, figures->stream_gb_per_s);
    print_profile("decode", times->decode, figures->stream_gb_per_s);
    json["prefill_kernels"] = profile_json(times->prefill);
    json["kernels"] = profile_json(times->decode);
  }
  if (command.json.empty()) return k_exit_ok;
  auto written = write_bench_json(command.json, json);
  return written ? k_exit_ok : report(written.error());
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
      ->check(whole_number(1, 1024));
  command
      .add_option("--prompt-tokens", options->bench.prompt_tokens, "Tokens of the prefill that is measured")
      ->check(whole_number(1, 1u << 20));
  command.add_option("--gen-tokens", options->bench.gen_tokens, "Tokens that are decoded")
      ->check(whole_number(2, 1u << 16));
  command.add_option("--depth", options->depths_text, "Tokens before those that are decoded: 0,128,2048");
  command.add_option("--repeat", options->bench.repeat, "Measurements of each figure")
      ->check(whole_number(1, 1000));
  command.add_option("--json", options->json, "File for all figures");
  command.add_flag("--profile", options->profile, "Also time each kind of op, at the last depth");
  command
      .add_flag("--load", options->load,
                "Instead: how fast weights come onto the device, beside a plain read of their files")
      ->excludes(random);
  add_context_option(command, options->model.context);
  command.add_option("--adapter", options->model.adapter, "Part of an adapter's name");
  add_kernels_option(command, options->model.target);
  command.callback([options, &action] {
    if (options->model.model.empty() && options->random.empty()) fail_usage("bench needs MODEL or --random.");
    auto depths = parse_ids(options->depths_text);
    if (!depths) fail_usage("--depth: " + depths.error().text);
    options->bench.depths = std::move(*depths);
    action = [options] { return bench(*options); };
  });
}

}  // namespace ztvm::app
