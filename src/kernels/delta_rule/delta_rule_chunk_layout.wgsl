// What is prepared for a chunk of CHUNK rows and one value head, in vectors of four. Consts: VALUE_HEADS, CHUNK.
// Block (chunk, head) is the INVERSE matrix, the SCORES matrix, four FACTORS of each row, and the chunk's DECAY.
const MATRIX_QUADS = CHUNK * CHUNK / 4u;
const SCORES = MATRIX_QUADS;
const FACTORS = 2u * MATRIX_QUADS;
const DECAY = FACTORS + CHUNK;
const BLOCK_QUADS = DECAY + 1u;
const_assert CHUNK % 4u == 0u;

fn first_of_block(chunk: u32, head: u32) -> u32 {
  return (chunk * VALUE_HEADS + head) * BLOCK_QUADS;
}
