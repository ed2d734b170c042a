// Where rope_kv reads a pair of elements of a head of q, k or v, how it turns them, and where it writes queries.
// Consts: N_HEADS, N_KV_HEADS, ROW_HEADS (heads per row of qkv), HEAD_DIM, N_ROTATED (elements of a head).
// Bindings: 0 step, 1 qkv, 2 rope table, 3 pages, 4 q; 5 keys and 6 values are the body's.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> qkv: array<Elem>;
@group(0) @binding(2) var<storage, read> rope: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> pages: array<u32>;
@group(0) @binding(4) var<storage, read_write> q: array<Elem>;

const ALL_HEADS = N_HEADS + 2u * N_KV_HEADS;
const_assert ROW_HEADS >= ALL_HEADS;

fn is_value_head(head: u32) -> bool {
  return head >= N_HEADS + N_KV_HEADS;
}

fn load_pair(row: u32, head: u32, p: u32) -> vec2<f32> {
  let at = (row * ROW_HEADS + head) * HEAD_DIM + pair_elements(p);
  return vec2<f32>(f32(qkv[at.x]), f32(qkv[at.y]));
}

// Pair `p` of a query or key head, rotated; one of values as it is.
fn rotate(row: u32, head: u32, p: u32, pair: vec2<f32>) -> vec2<f32> {
  if (p >= HALF || is_value_head(head)) {
    return pair;
  }
  return turn_pair(pair, rope[(step_state.position + row) * HALF + p]);
}

fn store_query_pair(row: u32, head: u32, p: u32, pair: vec2<f32>) {
  let at = (row * N_HEADS + head) * HEAD_DIM + pair_elements(p);
  q[at.x] = Elem(pair.x);
  q[at.y] = Elem(pair.y);
}

// First KvQuad in the cache of a head of k or v of a row.
fn kv_place(row: u32, head: u32) -> u32 {
  let position = step_state.position + row;
  return cache_index(pages[position / PAGE_SLOTS], (head - N_HEADS) % N_KV_HEADS, position);
}
