#pragma once
// Reads a buffer once, as fast as an adapter can: the roofline that benchmarks compare kernels with, nothing a model needs.
// Thread t of n takes quads t, t + n, ... and leaves their exclusive or, so that no read can be left out.
// Bytes moved: the buffer once, 4 a thread written.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct StreamRead {
  std::uint32_t n_quads = 0;  // of 16 bytes each
  std::uint32_t n_workgroups =
      0;  // of k_stream_workgroup threads; on adapters that are CPUs a thread reads a run of its own
  gpu::Tensor data;  // [4 n_quads] u32
  gpu::Tensor out;   // [n_workgroups k_stream_workgroup] u32
};

inline constexpr std::uint32_t k_stream_workgroup = 128;

void stream_read(gpu::Recording& recording, std::string_view name, const StreamRead& args);

// The oracle, on bindings data, out. `contiguous`: the CPU set's order.
void stream_read_reference(std::span<const gpu::HostView> views, std::uint32_t n_quads,
                           std::uint32_t n_threads, bool contiguous);

}  // namespace ztvm::kernels
