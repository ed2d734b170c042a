#include "apps/cli/doctor.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <map>
#include <memory>

#include "apps/cli/terminal.hpp"
#include "apps/tuning_store.hpp"
#include "gpu/webgpu_device.hpp"
#include "kernels/cases.hpp"

namespace ztvm::app {
namespace {

struct DoctorOptions {
  gpu::NativeOptions device;
  std::optional<gpu::Target> target;
  bool all = false;
};

std::string_view kind_name(gpu::AdapterKind kind) {
  switch (kind) {
    case gpu::AdapterKind::cpu: return "CPU";
    case gpu::AdapterKind::integrated: return "integrated GPU";
    case gpu::AdapterKind::discrete: return "discrete GPU";
    case gpu::AdapterKind::unknown: break;
  }
  return "unknown kind";
}

std::string describe_caps(const gpu::Caps& caps) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  std::string text =
      fmt::format("Adapter      {} ({})\nDriver       {}\n", caps.adapter, kind_name(caps.kind), caps.driver);
  text += fmt::format("WebGPU       {}\n",
                      caps.compiler == gpu::ShaderCompiler::naga ? "wgpu-native, naga" : "Dawn, Tint");
  text += fmt::format("Features     shader-f16 {}, subgroups {}", yes(caps.f16), yes(caps.subgroups));
  if (caps.subgroup_max > 0) text += fmt::format(" ({} to {} lanes)", caps.subgroup_min, caps.subgroup_max);
  if (caps.subgroup_matrix) text += ", subgroup matrices";
  text += fmt::format(
      "\nLimits       buffer {}, binding {}, {} storage buffers a shader, {} bytes of workgroup memory, {} "
      "invocations\n",
      format_bytes(caps.max_buffer_bytes), format_bytes(caps.max_binding_bytes), caps.max_bindings,
      caps.max_workgroup_bytes, caps.max_workgroup_invocations);
  return text;
}

// What the self-test found of one kernel.
struct KernelResult {
  std::size_t n_cases = 0;
  std::size_t n_wrong = 0;
  std::string first_problem;
};

void run_into(KernelResult& result, gpu::Device& device, const gpu::Target& target,
              const kernels::KernelCase& test) {
  ++result.n_cases;
  const auto outcome = kernels::run_case(device, target, test);
  std::string problem;
  if (!outcome) {
    problem = outcome.error().text;
  } else if (outcome->mismatch) {
    problem = gpu::describe(*outcome->mismatch);
  }
  if (problem.empty()) return;
  ++result.n_wrong;
  if (result.first_problem.empty()) result.first_problem = fmt::format("{}: {}", test.name, problem);
}

// The table of kernels; false when one is wrong.
bool self_test(gpu::Device& device, const gpu::Target& target, bool all) {
  std::map<std::string, KernelResult> results;
  for (const kernels::KernelCase& test : kernels::all_cases()) {
    if (all || test.quick) run_into(results[test.kernel], device, target, test);
  }
  bool fine = true;
  print_now("\nSelf-test: each kernel against its oracle\n");
  for (const auto& [kernel, result] : results) {
    print_now(fmt::format("  {:<14} {:>3} cases  {}\n", kernel, result.n_cases,
                          result.n_wrong == 0 ? "agree" : fmt::format("{} WRONG", result.n_wrong)));
    if (result.n_wrong > 0) print_now(fmt::format("    {}\n", result.first_problem));
    fine = fine && result.n_wrong == 0;
  }
  return fine;
}

// What was measured here before (apps/tuning_store.hpp), and where it is.
void print_tuning(const gpu::Caps& caps, const gpu::Target& target) {
  const engine::TuningKey key = engine::tuning_key(caps, target);
  const gpu::Tuning tuning = load_tuning(key);
  if (tuning.empty()) {
    print_now(
        "Autotune     nothing measured yet; the first start of a model does, unless the adapter is a CPU\n");
    return;
  }
  std::string text;
  std::size_t n_others = 0;
  for (const auto& [shape, tuned] : tuning) {
    for (const auto& [form, problem] : tuned.wrong)
      text += fmt::format("  {}: WRONG as {}: {}\n", shape, form, problem);
    const auto own = tuned.times.find(tuned.own);
    const auto chosen = tuned.times.find(tuned.form);
    if (tuned.form == tuned.own || own == tuned.times.end() || chosen == tuned.times.end()) continue;
    ++n_others;
    text += fmt::format("  {}: {}, {:.1f} us (the kernel's own choice, {}: {:.1f} us)\n", shape, tuned.form,
                        chosen->second, tuned.own, own->second);
  }
  print_now(fmt::format(
      "Autotune     {} shapes measured, {} with another form than the kernel's own choice ({})\n{}",
      tuning.size(), n_others, tuning_file(key).string(), text));
}

int doctor(const DoctorOptions& options) {
  print_now("Adapters     ");
  const auto adapters = gpu::list_webgpu_adapters(options.device.library);
  for (std::size_t i = 0; i < adapters.size(); ++i) print_now((i == 0 ? "" : "; ") + adapters[i].adapter);
  print_now(adapters.empty() ? "none\n" : "\n");
  auto device = gpu::open_webgpu_device(options.device);
  if (!device) return report(device.error());
  const gpu::Caps& caps = (*device)->caps();
  print_now(describe_caps(caps));
  const gpu::Target target = options.target.value_or(gpu::choose_target(caps));
  if (!gpu::supports(caps, target)) {
    return report({ErrorCode::unsupported,
                   fmt::format("The adapter cannot run kernel set \"{}\".", gpu::describe(target))});
  }
  print_now(fmt::format("Kernel set   {}. {}\n", gpu::describe(target),
                        options.target ? "It was asked for." : gpu::explain_target(caps)));
  print_tuning(caps, target);
  if (!self_test(**device, target, options.all)) {
    print_now("\nSome kernels give wrong results here; attach this report to an issue.\n");
    return k_exit_failure;
  }
  print_now("\nEvery kernel agrees with its oracle.\n");
  return k_exit_ok;
}

}  // namespace

void add_doctor_command(CLI::App& program, Action& action) {
  CLI::App& command = *program.add_subcommand("doctor", "Tests the adapter and every kernel on it");
  auto options = std::make_shared<DoctorOptions>();
  add_device_options(command, options->device);
  command.add_flag("--all", options->all, "Run every case, not only the quick ones (minutes on a CPU)");
  add_kernels_option(command, options->target);
  command.callback([options, &action] { action = [options] { return doctor(*options); }; });
}

}  // namespace ztvm::app
