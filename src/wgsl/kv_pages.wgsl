// Addresses in a paged cache [page][kv_head][slot 0..15][KV_SLOT]. Consts: N_KV_HEADS; KV_SLOT of kv_float or kv_int8.
const PAGE_SLOTS = 16u;

// First KvQuad of the key or value of one head at a position; `page` is the page table's entry for position / 16.
fn cache_index(page: u32, kv_head: u32, position: u32) -> u32 {
  return ((page * N_KV_HEADS + kv_head) * PAGE_SLOTS + position % PAGE_SLOTS) * KV_SLOT;
}
