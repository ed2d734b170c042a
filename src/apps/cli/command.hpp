#pragma once
// What all subcommands share: how they are registered, how they end, and options that several of them have.
#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/loaded_model.hpp"
#include "base/error.hpp"

namespace ztvm::app {

inline constexpr int k_exit_ok = 0;
inline constexpr int k_exit_failure = 1;
inline constexpr int k_exit_usage = 2;
inline constexpr int k_exit_interrupted = 130;  // as shells have it after Ctrl-C

// The work that the chosen subcommand leaves to main: it returns the exit code. add_X_command() adds the subcommand X
// to `program`; its options are checked while the line is parsed, so that only a right line sets the action.
using Action = std::function<int()>;

// Ends the parsing with a usage error.
[[noreturn]] void fail_usage(const std::string& text);

// Prints the error as one line on stderr. Returns k_exit_failure.
int report(const Error& error);

// Prints a sentence as one line on stderr that does not change how the program ends.
void warn(const std::string& sentence);

// Accepts decimal digits alone, from `min` to `max`: CLI11 by itself takes -1 and octal for unsigned numbers too.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);

// Accepts a decimal fraction from `min` to `max`, without `min` itself unless `with_min`: CLI11 takes nan and inf too.
CLI::Validator real_number(float min, float max, bool with_min);

// MODEL.
void add_model_argument(CLI::App& command, std::string& model);
// --context N.
void add_context_option(CLI::App& command, std::uint32_t& context);
// --kernels SET.
void add_kernels_option(CLI::App& command, std::optional<gpu::Target>& target);
// --kv float|int8.
void add_kv_option(CLI::App& command, model::KvType& kv);
// --autotune off|auto|on; auto from here on.
void add_autotune_option(CLI::App& command, engine::Autotune& autotune);
// --adapter NAME and --webgpu LIBRARY.
void add_device_options(CLI::App& command, gpu::NativeOptions& options);
// --backend gpu|reference, --adapter NAME, --webgpu LIBRARY, --kernels SET, --kv and --autotune.
void add_backend_options(CLI::App& command, ModelOptions& options);

// "gpu" or "reference". Errors: invalid_argument.
Result<engine::Backend> parse_backend(std::string_view name);
// Reads "1,2,3", each `what` ("token id"). Errors: invalid_argument for anything but decimal numbers below 2^32 with
// single commas between.
Result<std::vector<std::uint32_t>> parse_ids(std::string_view text, std::string_view what = "token id");

}  // namespace ztvm::app
