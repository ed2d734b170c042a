#pragma once
// MLX's quantisation settings in config.json: bits and group for all modules, and for some by name.
// Format: ml-explore/mlx-lm utils.py (quantization key, per-module overrides by full module path).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ztvm::load {

struct AffineGroup {
  std::uint32_t bits = 0;   // 2, 3, 4, 5, 6 or 8
  std::uint32_t group = 0;  // 32, 64 or 128 weights share scale and bias
};

struct AffineConfig {
  std::optional<AffineGroup> all;                             // none: the model is not quantised
  std::map<std::string, std::optional<AffineGroup>> modules;  // by path; none: this one is not quantised

  // Of the module `path`: its own, else that of all.
  std::optional<AffineGroup> of(const std::string& path) const;
};

// Reads `quantization`, or `quantization_config` where that is MLX's, of the config.json `config`. Without either
// nothing is quantised. Errors: corrupt_file for fields that are missing or of a wrong type; unsupported for a mode
// other than affine and for bits or groups that MLX does not have.
Result<AffineConfig> read_affine_config(const Json& config, std::string_view file);

}  // namespace ztvm::load
