// Where rope_kv reads a pair of elements of a head of q, k or v, and where it writes them, rotated.
// Consts: N_HEADS, N_KV_HEADS, ROW_HEADS (heads per row of qkv), HEAD_DIM, N_ROTATED (elements of a head).
// Bindings: 0 step, 1 qkv, 2 rope table, 3 pages, 4 q, 5 keys, 6 values.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> qkv: array<Elem>;
@group(0) @binding(2) var<storage, read> rope: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> pages: array<u32>;
@group(0) @binding(4) var<storage, read_write> q: array<Elem>;
@group(0) @binding(5) var<storage, read_write> keys: array<Elem>;
@group(0) @binding(6) var<storage, read_write> values: array<Elem>;

const ALL_HEADS = N_HEADS + 2u * N_KV_HEADS;
const_assert ROW_HEADS >= ALL_HEADS;

fn load_pair(row: u32, head: u32, p: u32) -> vec2<f32> {
  let at = (row * ROW_HEADS + head) * HEAD_DIM + pair_elements(p);
  return vec2<f32>(f32(qkv[at.x]), f32(qkv[at.y]));
}

fn rotate(pair: vec2<f32>, position: u32, p: u32) -> vec2<f32> {
  if (p >= HALF) {
    return pair;
  }
  return turn_pair(pair, rope[position * HALF + p]);
}

// Rotates pair `p` of a query or key head, and stores it; a pair of values is stored as it is.
fn store_pair(row: u32, head: u32, p: u32, pair: vec2<f32>) {
  let position = step_state.position + row;
  let at = pair_elements(p);
  if (head < N_HEADS) {
    let r = rotate(pair, position, p);
    let first = (row * N_HEADS + head) * HEAD_DIM;
    q[first + at.x] = Elem(r.x);
    q[first + at.y] = Elem(r.y);
  } else if (head < N_HEADS + N_KV_HEADS) {
    let r = rotate(pair, position, p);
    let first = cache_index(pages[position / PAGE_SLOTS], head - N_HEADS, position);
    keys[first + at.x] = Elem(r.x);
    keys[first + at.y] = Elem(r.y);
  } else {
    let first = cache_index(pages[position / PAGE_SLOTS], head - N_HEADS - N_KV_HEADS, position);
    values[first + at.x] = Elem(pair.x);
    values[first + at.y] = Elem(pair.y);
  }
}
