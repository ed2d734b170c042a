#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/stream_read/stream_read.hpp"

namespace ztvm::kernels {
namespace {

KernelCase make_case(std::uint32_t n_quads, std::uint32_t n_workgroups, bool quick) {
  return {.kernel = "stream_read",
          .name = fmt::format("{} quads by {} workgroups", n_quads, n_workgroups),
          .build =
              [n_quads, n_workgroups](CaseBuilder& builder, gpu::Recording& recording) {
                stream_read(recording, "stream",
                            {.n_quads = n_quads,
                             .n_workgroups = n_workgroups,
                             .data = builder.stale_words(std::size_t{n_quads} * 4),
                             .out = builder.stale_words(std::size_t{n_workgroups} * k_stream_workgroup)});
              },
          .max_rows = 1,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> stream_read_cases() {
  return {make_case(4096, 2, true), make_case(1000, 3, true), make_case(1, 1, false),
          make_case(129, 1, false)};
}

}  // namespace ztvm::kernels
