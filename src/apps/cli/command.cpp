#include "apps/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <span>

#include "apps/cli/terminal_text.hpp"

namespace ztvm::app {

namespace {

// The whole of `text` as a decimal number, or nothing.
template <typename T>
std::optional<T> parse_decimal(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Of a word among those that an option takes; ends the program with what it takes instead.
std::ptrdiff_t index_of(std::span<const std::string_view> words, std::string_view word,
                        std::string_view option) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) {
    fail_usage(fmt::format("{} is \"{}\", expected one of {}.", option, word, fmt::join(words, ", ")));
  }
  return found - words.begin();
}

}  // namespace

void fail_usage(const std::string& text) { throw CLI::ValidationError(text); }

int report(const Error& error) {
  fmt::print(stderr, "zerotvm: {}\n", with_codes_shown(error.text));
  return k_exit_failure;
}

void warn(const std::string& sentence) {
  fmt::print(stderr, "zerotvm: Warning: {}\n", with_codes_shown(sentence));
}

void add_model_argument(CLI::App& command, std::string& model) {
  command.add_option("MODEL", model, "Alias (smollm2, phi3, ...), model folder, or .gguf file")->required();
}

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
  return CLI::Validator(
      [min, max](const std::string& text) {
        const auto value = parse_decimal<std::uint64_t>(text);
        const bool is_octal = text.size() > 1 && text.front() == '0';  // as CLI11 would read it
        if (value && *value >= min && *value <= max && !is_octal) return std::string();
        return fmt::format("\"{}\" is no whole number from {} to {}", text, min, max);
      },
      "");
}

CLI::Validator real_number(float min, float max, bool with_min) {
  return CLI::Validator(
      [=](const std::string& text) {
        const auto value = parse_decimal<float>(text);
        // Not a number is inside no range.
        if (value && (with_min ? *value >= min : *value > min) && *value <= max) return std::string();
        return with_min ? fmt::format("\"{}\" is no number from {} to {}", text, min, max)
                        : fmt::format("\"{}\" is no number above {} and up to {}", text, min, max);
      },
      "");
}

void add_context_option(CLI::App& command, std::uint32_t& context) {
  constexpr std::uint32_t k_max_context = 1u << 20;
  command.add_option("--context", context, "Tokens that prompt and answer may take together")
      ->check(whole_number(1, k_max_context));
}

void add_kernels_option(CLI::App& command, std::optional<gpu::Target>& target) {
  command
      .add_option_function<std::string>(
          "--kernels",
          [&target](const std::string& name) {
            auto parsed = gpu::parse_target(name);
            if (!parsed) fail_usage("--kernels: " + parsed.error().text);
            target = *parsed;
          },
          "Kernel set in place of the chosen one: \"cpu f32\", \"gpu f16 subgroups\", ...")
      ->type_name("SET");
}

Result<engine::Backend> parse_backend(std::string_view name) {
  if (name == "gpu") return engine::Backend::gpu;
  if (name == "reference") return engine::Backend::reference;
  return fail(ErrorCode::invalid_argument,
              fmt::format("Backend \"{}\" is not known, expected gpu or reference.", name));
}

void add_kv_option(CLI::App& command, model::KvType& kv) {
  command
      .add_option_function<std::string>(
          "--kv",
          [&kv](const std::string& name) {
            auto parsed = model::parse_kv_type(name);
            if (!parsed) fail_usage("--kv: " + parsed.error().text);
            kv = *parsed;
          },
          "Keys and values as float (default: f16 or f32, as activations) or int8, which take about half of "
          "f16")
      ->type_name("TYPE");
}

void add_autotune_option(CLI::App& command, engine::Autotune& autotune) {
  autotune = engine::Autotune::unless_on_cpu;
  command
      .add_option_function<std::string>(
          "--autotune",
          [&autotune](const std::string& name) {
            autotune = static_cast<engine::Autotune>(index_of(engine::k_autotune_names, name, "--autotune"));
          },
          "Measure at the first start which forms of the kernels are fastest here: auto (default: not on a "
          "CPU), on, off")
      ->type_name("WHEN");
}

void add_device_options(CLI::App& command, gpu::NativeOptions& options) {
  command
      .add_option("--adapter", options.adapter,
                  "GPU to use: a part of its name, as \"zerotvm doctor\" shows it")
      ->type_name("NAME");
  gpu::WebGpuLibrary& library = options.library;
  command
      .add_option_function<std::string>(
          "--webgpu",
          [&library](const std::string& name) {
            library =
                static_cast<gpu::WebGpuLibrary>(index_of(gpu::k_webgpu_library_names, name, "--webgpu"));
          },
          "wgpu-native, dawn, or auto (default): dawn where it is there and gives the GPU matrix products")
      ->type_name("LIBRARY");
}

void add_backend_options(CLI::App& command, ModelOptions& options) {
  engine::Backend& backend = options.backend;
  command
      .add_option_function<std::string>(
          "--backend",
          [&backend](const std::string& name) {
            auto parsed = parse_backend(name);
            if (!parsed) fail_usage("--backend: " + parsed.error().text);
            backend = *parsed;
          },
          "gpu (default), or reference: the kernels' oracles on the CPU")
      ->type_name("NAME");
  add_device_options(command, options.device);
  add_kernels_option(command, options.target);
  add_kv_option(command, options.kv);
  add_autotune_option(command, options.autotune);
}

Result<std::vector<std::uint32_t>> parse_ids(std::string_view text, std::string_view what) {
  std::vector<std::uint32_t> ids;
  for (std::string_view rest = text;;) {
    const std::size_t n_chars = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, n_chars);
    const auto id = parse_decimal<std::uint32_t>(item);
    if (!id) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("\"{}\" is no {}, expected decimal numbers with commas between.", item, what));
    }
    ids.push_back(*id);
    if (n_chars == rest.size()) return ids;
    rest.remove_prefix(n_chars + 1);
  }
}

}  // namespace ztvm::app
