// A weight row's group in whole numbers, which a levels part loads, and its products with the bytes of x.

// Levels of the group's halves as signed bytes; value = scale.x * level + scale.y.
struct Levels {
  a: vec4<u32>,
  b: vec4<u32>,
  scale: vec2<f32>,
}

// Whole numbers throughout a group: a driver was seen to reassociate sums of floats, which costs the low plane its digits.
fn dot16(before: i32, levels: vec4<u32>, bytes: vec4<u32>) -> i32 {
  return dot4I8Packed(levels.w, bytes.w) +
         (dot4I8Packed(levels.z, bytes.z) + (dot4I8Packed(levels.y, bytes.y) + (dot4I8Packed(levels.x, bytes.x) + before)));
}
