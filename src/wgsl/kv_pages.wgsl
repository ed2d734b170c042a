// Addresses in a paged cache [page][kv_head][slot 0..15][head_dim]. Consts: N_KV_HEADS, HEAD_DIM.
const PAGE_SLOTS = 16u;

// First element of the key or value of one head at a position; `page` is the page table's entry for position / 16.
fn cache_index(page: u32, kv_head: u32, position: u32) -> u32 {
  return ((page * N_KV_HEADS + kv_head) * PAGE_SLOTS + position % PAGE_SLOTS) * HEAD_DIM;
}
