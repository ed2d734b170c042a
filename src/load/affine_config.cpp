#include "load/affine_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "load/json_fields.hpp"

namespace ztvm::load {
namespace {

constexpr std::array<std::uint64_t, 6> k_bits = {2, 3, 4, 5, 6, 8};
constexpr std::array<std::uint64_t, 3> k_groups = {32, 64, 128};

// `object` with the fields bits, group_size and perhaps mode; what it lacks is taken from `fallback`.
Result<AffineGroup> read_group(const Json& object, const std::optional<AffineGroup>& fallback,
                               const std::string& what) {
  const auto number = [&](std::string_view key,
                          std::optional<std::uint64_t> otherwise) -> Result<std::uint64_t> {
    if (otherwise && !object.contains(key)) return *otherwise;
    return get_length(object, key, what);
  };
  auto bits = number("bits", fallback ? std::optional<std::uint64_t>(fallback->bits) : std::nullopt);
  if (!bits) return forward(bits);
  auto group = number("group_size", fallback ? std::optional<std::uint64_t>(fallback->group) : std::nullopt);
  if (!group) return forward(group);
  if (object.contains("mode")) {
    auto mode = get_string(object, "mode", what);
    if (!mode) return forward(mode);
    if (*mode != "affine") {
      return fail(ErrorCode::unsupported,
                  fmt::format("{} has the mode {}, supported is affine.", what, in_quotes(*mode)));
    }
  }
  if (std::ranges::count(k_bits, *bits) == 0 || std::ranges::count(k_groups, *group) == 0) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("{} has {} bits in groups of {}, expected 2, 3, 4, 5, 6 or 8 in groups of 32, 64 or 128.",
                    what, *bits, *group));
  }
  return AffineGroup{.bits = static_cast<std::uint32_t>(*bits), .group = static_cast<std::uint32_t>(*group)};
}

// The settings, or null: `quantization_config` also belongs to other methods, which name themselves.
const Json* find_settings(const Json& config) {
  if (!config.is_object()) return nullptr;
  if (const auto own = config.find("quantization"); own != config.end() && own->is_object()) return &*own;
  const auto shared = config.find("quantization_config");
  if (shared == config.end() || !shared->is_object() || shared->contains("quant_method")) return nullptr;
  return &*shared;
}

}  // namespace

std::optional<AffineGroup> AffineConfig::of(const std::string& path) const {
  const auto found = modules.find(path);
  return found == modules.end() ? all : found->second;
}

Result<AffineConfig> read_affine_config(const Json& config, std::string_view file) {
  AffineConfig result;
  const Json* settings = find_settings(config);
  if (settings == nullptr) return result;
  auto all = read_group(*settings, std::nullopt, fmt::format("The field \"quantization\" of {}", file));
  if (!all) return forward(all);
  result.all = *all;
  for (const auto& [path, value] : settings->items()) {
    if (value.is_object()) {
      auto own = read_group(value, result.all,
                            fmt::format("The quantization of module {} in {}", in_quotes(path), file));
      if (!own) return forward(own);
      result.modules.emplace(path, *own);
    } else if (value.is_boolean()) {
      result.modules.emplace(path, value.get<bool>() ? result.all : std::nullopt);
    }
  }
  return result;
}

}  // namespace ztvm::load
