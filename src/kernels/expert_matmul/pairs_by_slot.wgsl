// Work of an expert matmul, pair by pair: workgroup (columns, row, slot).
// Consts: TOP_K, FIRST_EXPERT and N_EXPERTS (of the part). Binding: 5 ids.
@group(0) @binding(5) var<storage, read> ids: array<u32>;

// Places [first, last) of a list of pairs that share an expert, which is counted within the part.
struct Pairs {
  expert: u32,
  first: u32,
  last: u32,
}

fn pairs_of(workgroup: vec3<u32>) -> Pairs {
  let pair = workgroup.y * TOP_K + workgroup.z;
  let expert = ids[pair] - FIRST_EXPERT;
  if (expert >= N_EXPERTS) {
    return Pairs(0u, 0u, 0u);  // an expert of another part: lower ones have wrapped round
  }
  return Pairs(expert, pair, pair + 1u);
}

fn pair_at(place: u32) -> u32 {
  return place;
}
