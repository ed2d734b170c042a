// The rotated queries and key of attention_split.wgsl, where they have a norm (fresh_normed): each thread makes whole quads,
// because no two threads may write one vector of workgroup memory.
const HALF = N_ROTATED / 2u;

// A quad as it is in qkv, the elements that its own are turned with, and the norm's weights of both.
struct FreshQuad {
  own: vec4<f32>,
  other: vec4<f32>,
  own_weights: vec4<f32>,
  other_weights: vec4<f32>,
}
struct Fresh {
  quads: array<FreshQuad, QUADS_PER_THREAD>,
}

// The other element of a pair, rotate-half order; those beyond N_ROTATED stay.
fn other_element(element: u32) -> u32 {
  return select(element, select(element + HALF, element - HALF, element >= HALF), element < N_ROTATED);
}

fn ask_for_fresh(first_head: u32, kv_head: u32, thread: u32) -> Fresh {
  var asked = Fresh();
  for (var n = 0u; n < QUADS_PER_THREAD; n++) {
    let i = min(n * WORKGROUP + thread, FRESH_QUADS - 1u);
    let head = i / QUADS;
    let first = fresh_head(first_head, kv_head, head);
    var quad = FreshQuad();
    for (var e = 0u; e < 4u; e++) {
      let element = 4u * (i % QUADS) + e;
      let other = other_element(element);
      quad.own[e] = f32(qkv[first + element]);
      quad.other[e] = f32(qkv[first + other]);
      quad.own_weights[e] = norm_weight(head == HEADS, element);
      quad.other_weights[e] = norm_weight(head == HEADS, other);
    }
    asked.quads[n] = quad;
  }
  return asked;
}

// By how much an element's own and its other one are turned; without branches, so that all loads are under way at once.
fn turn_of(element: u32, position: u32) -> vec2<f32> {
  let turn = select(vec2<f32>(1.0, 0.0), rope[position * HALF + element % HALF], element < N_ROTATED);
  return vec2<f32>(turn.x, select(-turn.y, turn.y, element >= HALF));
}

// Leaves them in `quads`, as they are stored: rounded.
fn make_fresh(asked: Fresh, position: u32, thread: u32) {
  for (var n = 0u; n < QUADS_PER_THREAD; n++) {
    let i = n * WORKGROUP + thread;
    if (i < FRESH_QUADS) {
      part_scores[i] = dot(asked.quads[n].own, asked.quads[n].own);
    }
  }
  workgroupBarrier();  // the squares of every quad are there
  for (var n = 0u; n < QUADS_PER_THREAD; n++) {
    let i = n * WORKGROUP + thread;
    if (i < FRESH_QUADS) {
      let asked_quad = asked.quads[n];
      let head = i / QUADS;
      var squares = 0.0;
      for (var k = 0u; k < QUADS; k++) {
        squares += part_scores[head * QUADS + k];
      }
      let factor = norm_factor(squares);
      let own = asked_quad.own * factor * asked_quad.own_weights;
      let other = asked_quad.other * factor * asked_quad.other_weights;
      let element = 4u * (i % QUADS);
      let a = turn_of(element, position);
      let b = turn_of(element + 1u, position);
      let c = turn_of(element + 2u, position);
      let d = turn_of(element + 3u, position);
      let quad = own * vec4<f32>(a.x, b.x, c.x, d.x) + other * vec4<f32>(a.y, b.y, c.y, d.y);
      quads[i] = vec4<f32>(vec4<Elem>(quad)) * select(SCALE, 1.0, head == HEADS);
    }
  }
}
