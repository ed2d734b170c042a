// The rotated queries and key of attention_split.wgsl, where they have a norm (fresh_normed): each thread makes whole quads,
// because no two threads may write one vector of workgroup memory.
const HALF = N_ROTATED / 2u;

// The head's element after its norm.
fn normed_element(first: u32, element: u32, is_key: bool, factor: f32) -> f32 {
  return f32(qkv[first + element]) * factor * norm_weight(is_key, element);
}

// The element turned with the other one of its pair, rotate-half order; those beyond N_ROTATED stay. Without branches, so
// that the loads of all are under way at once.
fn turned_element(first: u32, element: u32, is_key: bool, factor: f32, position: u32) -> f32 {
  let is_turned = element < N_ROTATED;
  let is_second = element >= HALF;
  let other_element = select(element, select(element + HALF, element - HALF, is_second), is_turned);
  let own = normed_element(first, element, is_key, factor);
  let other = normed_element(first, other_element, is_key, factor);
  let turn = select(vec2<f32>(1.0, 0.0), rope[position * HALF + element % HALF], is_turned);
  return own * turn.x + select(-other, other, is_second) * turn.y;
}

// Leaves them in `quads`, as they are stored: rounded.
fn make_fresh(first_head: u32, kv_head: u32, position: u32, thread: u32) {
  for (var n = 0u; n < QUADS_PER_THREAD; n++) {
    let i = n * WORKGROUP + thread;
    if (i < FRESH_QUADS) {
      let at = fresh_head(first_head, kv_head, i / QUADS) + 4u * (i % QUADS);
      let v = vec4<f32>(f32(qkv[at]), f32(qkv[at + 1u]), f32(qkv[at + 2u]), f32(qkv[at + 3u]));
      part_scores[i] = dot(v, v);
    }
  }
  workgroupBarrier();  // the squares of every quad are there
  for (var n = 0u; n < QUADS_PER_THREAD; n++) {
    let i = n * WORKGROUP + thread;
    if (i < FRESH_QUADS) {
      let head = i / QUADS;
      let first = fresh_head(first_head, kv_head, head);
      let is_key = head == HEADS;
      var squares = 0.0;
      for (var k = 0u; k < QUADS; k++) {
        squares += part_scores[head * QUADS + k];
      }
      let factor = norm_factor(squares);
      let element = 4u * (i % QUADS);
      let quad = vec4<f32>(turned_element(first, element, is_key, factor, position),
                           turned_element(first, element + 1u, is_key, factor, position),
                           turned_element(first, element + 2u, is_key, factor, position),
                           turned_element(first, element + 3u, is_key, factor, position));
      quads[i] = vec4<f32>(vec4<Elem>(quad)) * select(SCALE, 1.0, is_key);
    }
  }
}
