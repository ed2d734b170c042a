#pragma once
// Errors that are expected at run time (files, configs, networks, devices, users) and checks for programmer errors.
#include <cstdint>
#include <expected>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace ztvm {

// What kind of failure it is; apps map it to an exit code, an HTTP status or a JavaScript error.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the caller gave a value out of range, an unknown name, an id outside the vocabulary
  not_found,         // a file, tensor, model or alias does not exist
  corrupt_file,      // the bytes contradict the format
  unsupported,       // a valid file or request that this engine cannot serve
  context_full,      // the prompt does not fit the context
  out_of_memory,     // the adapter's limits or memory do not suffice
  device,            // the GPU, its driver or the shader compiler failed
  device_lost,       // the GPU went away; the engine must be made anew
  io,                // reading or writing failed
};

std::string_view to_string(ErrorCode code);

// `text` is one full sentence in the present tense: what was given, what was expected, and where.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string text;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string text) {
  return std::unexpected<Error>(Error{.code = code, .text = std::move(text)});
}

// Passes a failure on: `if (!r) return forward(r);`.
template <typename T>
std::unexpected<Error> forward(Result<T>& result) {
  return std::unexpected<Error>(std::move(result.error()));
}

// Traps when `condition` is false: a programmer error, never a reaction to input.
void check(bool condition, std::string_view what,
           std::source_location where = std::source_location::current());

}  // namespace ztvm
