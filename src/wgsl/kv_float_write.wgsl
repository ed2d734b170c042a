// Writes to a cache of kv_float. The body gives fresh_quad(from, i): quad i of head `from` that is written.
fn write_key(first: u32, i: u32, head: u32) {
  keys[first + i] = vec4<Elem>(fresh_quad(head, i));
}
fn write_value(first: u32, i: u32, head: u32) {
  values[first + i] = vec4<Elem>(fresh_quad(head, i));
}
