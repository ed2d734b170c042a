// Exclusive or of the quads that a thread reads: every N_THREADS-th, or with CONTIGUOUS a run of its own.
// Consts: N_QUADS, N_THREADS, CONTIGUOUS, WORKGROUP. Bindings: 0 data, 1 out.
@group(0) @binding(0) var<storage, read> data: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

const RUN = (N_QUADS + N_THREADS - 1u) / N_THREADS;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let thread = id.x;
  let first = select(thread, thread * RUN, CONTIGUOUS);
  let last = select(N_QUADS, min(N_QUADS, first + RUN), CONTIGUOUS);
  let stride = select(N_THREADS, 1u, CONTIGUOUS);
  var value = vec4<u32>();
  for (var i = first; i < last; i += stride) {
    value ^= data[i];
  }
  out[thread] = value.x ^ value.y ^ value.z ^ value.w;
}
