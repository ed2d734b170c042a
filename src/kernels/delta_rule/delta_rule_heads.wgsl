// Where the q, k and v of a value head lie in a row of qkv.
// Consts: KEY_HEADS, VALUE_HEADS, KEY_DIM, VALUE_DIM, QUERY_SCALE (KEY_DIM to the power -0.5).
const QKV_STRIDE = 2u * KEY_HEADS * KEY_DIM + VALUE_HEADS * VALUE_DIM;
const NORM_EPS = 1.0e-6;  // on the sum of squares
const_assert VALUE_HEADS % KEY_HEADS == 0u;

fn first_q(row: u32, head: u32) -> u32 {
  return row * QKV_STRIDE + head / (VALUE_HEADS / KEY_HEADS) * KEY_DIM;
}

fn first_k(row: u32, head: u32) -> u32 {
  return first_q(row, head) + KEY_HEADS * KEY_DIM;
}

fn first_v(row: u32, head: u32) -> u32 {
  return row * QKV_STRIDE + 2u * KEY_HEADS * KEY_DIM + head * VALUE_DIM;
}
