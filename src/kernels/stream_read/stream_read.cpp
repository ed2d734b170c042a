#include "kernels/stream_read/stream_read.hpp"

namespace ztvm::kernels {

void stream_read(gpu::Recording& recording, std::string_view name, const StreamRead& args) {
  using gpu::Access;
  const bool contiguous = recording.target.cpu;
  const std::uint32_t n_threads = args.n_workgroups * k_stream_workgroup;
  recording.ops.push_back({
      .name = std::string(name),
      .program = {.body = "stream_read",
                  .parts = {},
                  .consts = {gpu::const_u32("N_QUADS", args.n_quads), gpu::const_u32("N_THREADS", n_threads),
                             gpu::const_bool("CONTIGUOUS", contiguous),
                             gpu::const_u32("WORKGROUP", k_stream_workgroup)}},
      .bindings = {{args.data, Access::read}, {args.out, Access::read_write}},
      .grid = {.x = args.n_workgroups},
      .oracle =
          [n_quads = args.n_quads, n_threads, contiguous](std::span<const gpu::HostView> views) {
            stream_read_reference(views, n_quads, n_threads, contiguous);
          },
      .tolerance = 0.0f,
  });
}

}  // namespace ztvm::kernels
