// The rotated queries and key of attention_split.wgsl, where they have no norm: each thread turns pairs. They go by way of
// single numbers, because no two threads may write one vector of workgroup memory.
const FRESH_PAIRS = PAIRS * (HEADS + 1u);
const PAIRS_PER_THREAD = (FRESH_PAIRS + WORKGROUP - 1u) / WORKGROUP;

var<workgroup> fresh: array<f32, HEAD_DIM * (HEADS + 1u)>;

// A thread's pairs as they are in qkv.
struct Fresh {
  pairs: array<vec2<f32>, PAIRS_PER_THREAD>,
}

fn ask_for_fresh(first_head: u32, kv_head: u32, thread: u32) -> Fresh {
  var asked = Fresh();
  for (var i = 0u; i < PAIRS_PER_THREAD; i++) {
    let f = min(i * WORKGROUP + thread, FRESH_PAIRS - 1u);
    let at = fresh_head(first_head, kv_head, f / PAIRS) + pair_elements(f % PAIRS);
    asked.pairs[i] = vec2<f32>(f32(qkv[at.x]), f32(qkv[at.y]));
  }
  return asked;
}

// Leaves them in `quads`, as they are stored: rounded.
fn make_fresh(asked: Fresh, position: u32, thread: u32) {
  for (var i = 0u; i < PAIRS_PER_THREAD; i++) {
    let f = i * WORKGROUP + thread;
    if (f < FRESH_PAIRS) {
      let p = f % PAIRS;
      let turn = select(vec2<f32>(1.0, 0.0), rope[position * HALF + min(p, HALF - 1u)], p < HALF);
      let turned = turn_pair(asked.pairs[i], turn);
      let rounded = vec2<f32>(vec2<Elem>(turned)) * select(SCALE, 1.0, f / PAIRS == HEADS);
      let to = f / PAIRS * HEAD_DIM + pair_elements(p);
      fresh[to.x] = rounded.x;
      fresh[to.y] = rounded.y;
    }
  }
  workgroupBarrier();  // the rotated heads are complete
  for (var n = 0u; n < QUADS_PER_THREAD; n++) {
    let i = n * WORKGROUP + thread;
    if (i < FRESH_QUADS) {
      quads[i] = vec4<f32>(fresh[4u * i], fresh[4u * i + 1u], fresh[4u * i + 2u], fresh[4u * i + 3u]);
    }
  }
}
