#pragma once
// Which kernel set an adapter gets, and why.
#include <array>
#include <string>

#include "gpu/device.hpp"

namespace ztvm::gpu {

// Properties that kernels choose their form by. Fixed when a model is recorded.
struct Target {
  bool cpu = false;        // the adapter runs shaders on a CPU: one thread a row, no barriers
  bool f16 = false;        // activations and caches are f16 (weights and accumulation do not change)
  bool subgroups = false;  // reductions use subgroup operations; any width works
  bool int8 =
      false;  // prompts are multiplied as 8-bit integers, where it else would be 16 (docs/numerics.md)
  bool matrices = false;  // prompts are multiplied by subgroup matrices of f16, summed in f32
  bool operator==(const Target&) const = default;
};

// Limits of the device that kernels choose their form by, too. Unset: what every WebGPU device has.
struct Limits {
  std::uint32_t workgroup_bytes = 16384;
  std::uint32_t workgroup_threads = 256;
};
Limits limits_of(const Caps& caps);

// Every kernel set there is.
inline constexpr std::array k_all_targets = {
    Target{.cpu = true},
    Target{.cpu = false},
    Target{.cpu = false, .f16 = true},
    Target{.cpu = false, .subgroups = true},
    Target{.cpu = false, .f16 = true, .subgroups = true},
    Target{.cpu = false, .subgroups = true, .int8 = true},
    Target{.cpu = false, .f16 = true, .subgroups = true, .int8 = true},
    Target{.cpu = false, .f16 = true, .subgroups = true, .matrices = true},
};

// The set chosen for these capabilities.
Target choose_target(const Caps& caps);
// True when an adapter with these capabilities can run kernels of this target.
bool supports(const Caps& caps, const Target& target);

// "cpu f32", "gpu f16 subgroups": for reports and options.
std::string describe(const Target& target);
// One sentence on why choose_target() decides as it does, for doctor.
std::string explain_target(const Caps& caps);
// Reads describe()'s form. Errors: invalid_argument, listing the forms.
Result<Target> parse_target(std::string_view text);

}  // namespace ztvm::gpu
