#include "engine/generation.hpp"

#include <fmt/format.h>

namespace ztvm::engine {
namespace {

// Written so that NaN fails: it is inside no range.
Result<void> in_range(std::string_view field, float value, float low, float high, bool with_low) {
  if ((with_low ? value >= low : value > low) && value <= high) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("Field \"{}\" is {}, expected a number {} {} and at most {}.", field, value,
                          with_low ? "of at least" : "above", low, high));
}

}  // namespace

Result<void> validate(const SamplerParams& params) {
  if (auto r = in_range("temperature", params.temperature, 0.0f, 100.0f, true); !r) return r;
  if (auto r = in_range("top_p", params.top_p, 0.0f, 1.0f, false); !r) return r;
  if (auto r = in_range("min_p", params.min_p, 0.0f, 1.0f, true); !r) return r;
  return in_range("repeat_penalty", params.repeat_penalty, 0.0f, 10.0f, false);
}

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::none: return "none";
    case FinishReason::stop: return "stop";
    case FinishReason::length: return "length";
    case FinishReason::interrupted: return "interrupted";
  }
  return {};
}

}  // namespace ztvm::engine
