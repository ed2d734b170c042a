// Writes to a cache of kv_float: quad `i` of a head whose place begins at KvQuad `first`. The body binds keys and values,
// and gives fresh_quad(head, i): quad i of a head that is written.
fn write_key(first: u32, i: u32, head: u32) {
  keys[first + i] = vec4<Elem>(fresh_quad(head, i));
}
fn write_value(first: u32, i: u32, head: u32) {
  values[first + i] = vec4<Elem>(fresh_quad(head, i));
}
