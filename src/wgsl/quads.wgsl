// What group_quads() of a weights part gives: elements 4j..4j+3 and 16+4j..16+4j+3 of a group, before scaling.
struct Quads {
  lo: vec4<f32>,
  hi: vec4<f32>,
}
