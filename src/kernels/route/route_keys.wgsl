// Bits of logits as unsigned numbers in the logits' order, so that every adapter ranks them alike, and weights of keys.
// What is not finite has the lowest key; both zeros have the same.
const NOT_FINITE = 1u;  // below the key of every finite number, above 0, which stands for no expert
const LOWEST = -3.4028234663852886e38;

fn to_key(bits: u32) -> u32 {
  if ((bits & 0x7F800000u) == 0x7F800000u) {
    return NOT_FINITE;
  }
  if ((bits & 0x7FFFFFFFu) == 0u) {
    return 0x80000000u;
  }
  return bits ^ select(0x80000000u, 0xFFFFFFFFu, (bits & 0x80000000u) != 0u);
}

fn logit_of(key: u32) -> f32 {
  if (key == NOT_FINITE) {
    return LOWEST;
  }
  return bitcast<f32>(key ^ select(0xFFFFFFFFu, 0x80000000u, (key & 0x80000000u) != 0u));
}

// exp(logit - largest). Halves are subtracted because the whole difference may overflow.
fn weight_of(key: u32, largest: f32) -> f32 {
  return exp(2.0 * max(0.5 * logit_of(key) - 0.5 * largest, -50.0));
}
