// Which elements of a head rotate together, rotate-half order. Consts: HEAD_DIM, N_ROTATED (elements of a head).
const HALF = N_ROTATED / 2u;
const PAIRS = HEAD_DIM / 2u;

// The two elements that pair `p` of a head owns: a rotated pair first, then the rest two by two.
fn pair_elements(p: u32) -> vec2<u32> {
  if (p < HALF) {
    return vec2<u32>(p, p + HALF);
  }
  return vec2<u32>(2u * p, 2u * p + 1u);
}

// A pair turned by the angle whose cos and sin `turn` has.
fn turn_pair(pair: vec2<f32>, turn: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(pair.x * turn.x - pair.y * turn.y, pair.y * turn.x + pair.x * turn.y);
}
