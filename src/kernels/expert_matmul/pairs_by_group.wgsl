// Work of an expert matmul, expert by expert: workgroup (columns, expert, share of the expert's pairs).
// Consts: FIRST_EXPERT (of the part), MAX_PAIRS (of a workgroup). Bindings: 5 offsets, 6 order, of group_experts.
@group(0) @binding(5) var<storage, read> offsets: array<u32>;
@group(0) @binding(6) var<storage, read> order: array<u32>;

// Places [first, last) of a list of pairs that share an expert, which is counted within the part.
struct Pairs {
  expert: u32,
  first: u32,
  last: u32,
}

fn pairs_of(workgroup: vec3<u32>) -> Pairs {
  let expert = FIRST_EXPERT + workgroup.y;
  let first = offsets[expert] + workgroup.z * MAX_PAIRS;
  return Pairs(workgroup.y, first, min(first + MAX_PAIRS, offsets[expert + 1u]));
}

fn pair_at(place: u32) -> u32 {
  return order[place];
}
