// Rotates queries and keys, and writes keys and values into the paged cache.
// One thread handles the pair (j, j + HALF) of one head of q, k or v.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, N_ROTATED (elements of a head), WORKGROUP.
// Bindings: 0 step, 1 qkv, 2 rope table, 3 pages, 4 q, 5 keys, 6 values.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> qkv: array<Elem>;
@group(0) @binding(2) var<storage, read> rope: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> pages: array<u32>;
@group(0) @binding(4) var<storage, read_write> q: array<Elem>;
@group(0) @binding(5) var<storage, read_write> keys: array<Elem>;
@group(0) @binding(6) var<storage, read_write> values: array<Elem>;

const HALF = N_ROTATED / 2u;
const PAIRS = HEAD_DIM / 2u;

// The two elements that pair `p` of a head owns: a rotated pair first, then the rest two by two.
fn pair_elements(p: u32) -> vec2<u32> {
  if (p < HALF) {
    return vec2<u32>(p, p + HALF);
  }
  return vec2<u32>(2u * p, 2u * p + 1u);
}

fn rotate(a: f32, b: f32, position: u32, p: u32) -> vec2<f32> {
  if (p >= HALF) {
    return vec2<f32>(a, b);
  }
  let c = rope[position * HALF + p];
  return vec2<f32>(a * c.x - b * c.y, b * c.x + a * c.y);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.y;
  let head = id.x / PAIRS;
  if (head >= N_HEADS + 2u * N_KV_HEADS || row >= step_state.n_rows) {
    return;
  }
  let p = id.x % PAIRS;
  let at = pair_elements(p);
  let source = (row * (N_HEADS + 2u * N_KV_HEADS) + head) * HEAD_DIM;
  let a = f32(qkv[source + at.x]);
  let b = f32(qkv[source + at.y]);
  let position = step_state.position + row;
  if (head < N_HEADS) {
    let r = rotate(a, b, position, p);
    let target_first = (row * N_HEADS + head) * HEAD_DIM;
    q[target_first + at.x] = Elem(r.x);
    q[target_first + at.y] = Elem(r.y);
  } else if (head < N_HEADS + N_KV_HEADS) {
    let r = rotate(a, b, position, p);
    let target_first = cache_index(pages[position / PAGE_SLOTS], head - N_HEADS, position);
    keys[target_first + at.x] = Elem(r.x);
    keys[target_first + at.y] = Elem(r.y);
  } else {
    let target_first = cache_index(pages[position / PAGE_SLOTS], head - N_HEADS - N_KV_HEADS, position);
    values[target_first + at.x] = Elem(a);
    values[target_first + at.y] = Elem(b);
  }
}
