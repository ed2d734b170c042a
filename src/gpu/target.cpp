#include "gpu/target.hpp"

#include <fmt/format.h>

namespace ztvm::gpu {
namespace {

// The kernels with matrices take a subgroup for 32 threads.
bool has_matrices(const Caps& caps) {
  return caps.subgroup_matrix && caps.subgroup_min == 32 && caps.subgroup_max == 32;
}

}  // namespace

Target choose_target(const Caps& caps) {
  // On a CPU f16 is emulated and a subgroup is a vector register, so neither helps there.
  if (caps.kind == AdapterKind::cpu) return Target{.cpu = true};
  Target target = {.cpu = false, .f16 = caps.f16, .subgroups = caps.subgroups};
  target.matrices = target.f16 && target.subgroups && has_matrices(caps);
  return target;
}

Limits limits_of(const Caps& caps) {
  return {.workgroup_bytes = caps.max_workgroup_bytes, .workgroup_threads = caps.max_workgroup_invocations};
}

bool supports(const Caps& caps, const Target& target) {
  return (!target.f16 || caps.f16) && (!target.subgroups || caps.subgroups) &&
         (!target.matrices || has_matrices(caps));
}

std::string describe(const Target& target) {
  return fmt::format("{} {}{}{}{}", target.cpu ? "cpu" : "gpu", target.f16 ? "f16" : "f32",
                     target.subgroups ? " subgroups" : "", target.int8 ? " int8" : "",
                     target.matrices ? " matrices" : "");
}

std::string explain_target(const Caps& caps) {
  if (caps.kind == AdapterKind::cpu) {
    return "The adapter is a CPU, so each thread owns whole rows, without barriers, in f32.";
  }
  return fmt::format(
      "The adapter is a GPU; activations are {}, reductions use {}, and large products of prompts {}.",
      caps.f16 ? "f16 (shader-f16 is there)" : "f32 (shader-f16 is missing)",
      caps.subgroups ? "subgroup operations" : "workgroup memory (subgroups are missing)",
      choose_target(caps).matrices ? "subgroup matrices" : "16-bit integers");
}

Result<Target> parse_target(std::string_view text) {
  std::string known;
  for (const Target& target : k_all_targets) {
    if (describe(target) == text) return target;
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", describe(target));
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("Kernel set \"{}\" is not known, expected one of {}.", text, known));
}

}  // namespace ztvm::gpu
