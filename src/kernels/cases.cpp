#include "kernels/cases.hpp"

#include <iterator>
#include <utility>

#include "gpu/tuning.hpp"

namespace ztvm::kernels {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> all;
  for (const auto& list :
       {embed_cases,         rms_norm_cases,      quantise_input_cases, matmul_cases,
        rope_kv_cases,       attention_cases,     rope_attention_cases, sigmoid_gate_cases,
        causal_conv_cases,   delta_rule_cases,    gated_norm_cases,     route_cases,
        group_experts_cases, expert_matmul_cases, combine_cases,        penalise_cases,
        argmax_cases,        sample_cases,        advance_cases,        stream_read_cases}) {
    std::vector<KernelCase> cases = list();
    std::move(cases.begin(), cases.end(), std::back_inserter(all));
  }
  return all;
}

std::uint64_t case_seed(const KernelCase& kernel_case) {
  // FNV-1a of the names: a case keeps its values when others are added.
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::string& text : {kernel_case.kernel, kernel_case.name}) {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001B3u;
  }
  return hash;
}

namespace {

// After each op the same op in its other forms: lockstep compares each with the oracle on what it met.
void add_other_forms(gpu::Recording& recording) {
  std::vector<gpu::Op> ops;
  for (gpu::Op& op : recording.ops) {
    ops.push_back(op);
    for (std::size_t i = 1; i < op.forms.size(); ++i) {
      gpu::Op& other = ops.emplace_back(op);
      other.name += ", " + op.forms[i].name;
      gpu::take_form(other, op.forms[i].name);
    }
  }
  recording.ops = std::move(ops);
}

}  // namespace

Result<gpu::Recording> build_case(CaseBuilder& builder, const gpu::Target& target,
                                  const KernelCase& kernel_case) {
  gpu::Recording recording = {.target = target,
                              .limits = kernel_case.least_limits ? gpu::Limits() : builder.limits(),
                              .max_rows = kernel_case.max_rows,
                              .ops = {},
                              .tuning = nullptr};
  kernel_case.build(builder, recording);
  if (!builder.status()) return std::unexpected(builder.status().error());
  if (kernel_case.all_forms) add_other_forms(recording);
  check(builder.n_rows() <= kernel_case.max_rows, "a case runs at most max_rows rows");
  return recording;
}

Result<CaseResult> run_case(gpu::Device& device, const gpu::Target& target, const KernelCase& kernel_case) {
  CaseBuilder builder(device, target, case_seed(kernel_case));
  auto recording = build_case(builder, target, kernel_case);
  if (!recording) return forward(recording);
  gpu::LockstepReport report;
  const auto executor = gpu::make_lockstep_executor(device, report);
  const gpu::RecordingId id = executor->add(std::move(*recording));
  executor->run(id, builder.n_rows());
  auto ran = executor->flush();
  auto polled = device.poll(false);  // takes the device's error, so that the next case starts clean
  if (!ran) return forward(ran);
  if (!polled) return forward(polled);
  return CaseResult{.n_ops = report.n_ops, .mismatch = std::move(report.first_mismatch)};
}

}  // namespace ztvm::kernels
