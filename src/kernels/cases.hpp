#pragma once
// The cases that test the kernels: data of the product, so that the unit tests, `zerotvm doctor` and the validate
// page run the same ones. Each kernel's folder has its list.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/executor.hpp"
#include "kernels/case_builder.hpp"

namespace ztvm::kernels {

struct KernelCase {
  std::string kernel;  // "matmul"
  std::string name;    // "q4 store 17x96, 3 rows"
  std::function<void(CaseBuilder&, gpu::Recording&)> build;
  std::uint32_t max_rows = 1;  // of the recording
  bool quick = false;          // part of doctor's short run
  bool least_limits = false;   // forms as on a device that has only what every WebGPU device has
  bool all_forms = false;  // each op in all of its forms (gpu/tuning.hpp), not only the kernel's own choice
};

struct CaseResult {
  std::size_t n_ops = 0;
  std::optional<gpu::Mismatch> mismatch;
};

// Every kernel's cases.
std::vector<KernelCase> all_cases();

// Runs one case in lockstep. The adapter supports the target. Errors: device (a shader that does not compile),
// out_of_memory. A wrong result is no error: it is the mismatch.
Result<CaseResult> run_case(gpu::Device& device, const gpu::Target& target, const KernelCase& kernel_case);

// Makes a case's recording; `builder` owns its buffers. Errors: out_of_memory.
Result<gpu::Recording> build_case(CaseBuilder& builder, const gpu::Target& target,
                                  const KernelCase& kernel_case);
// The seed that run_case() builds a case with.
std::uint64_t case_seed(const KernelCase& kernel_case);

std::vector<KernelCase> advance_cases();
std::vector<KernelCase> argmax_cases();
std::vector<KernelCase> attention_cases();
std::vector<KernelCase> causal_conv_cases();
std::vector<KernelCase> combine_cases();
std::vector<KernelCase> delta_rule_cases();
std::vector<KernelCase> embed_cases();
std::vector<KernelCase> expert_matmul_cases();
std::vector<KernelCase> gated_norm_cases();
std::vector<KernelCase> group_experts_cases();
std::vector<KernelCase> matmul_cases();
std::vector<KernelCase> penalise_cases();
std::vector<KernelCase> quantise_input_cases();
std::vector<KernelCase> rms_norm_cases();
std::vector<KernelCase> rope_attention_cases();
std::vector<KernelCase> rope_kv_cases();
std::vector<KernelCase> route_cases();
std::vector<KernelCase> sample_cases();
std::vector<KernelCase> sigmoid_gate_cases();
std::vector<KernelCase> stream_read_cases();

}  // namespace ztvm::kernels
