#include "model/families/layer_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ztvm::model {
namespace {

MatrixSource rows_of(std::string tensor, std::uint32_t rows) {
  return {.tensor = std::move(tensor), .rows = rows};
}

// Rows of a tensor [n_rows, dim] that has more.
MatrixSource some_rows_of(const std::string& tensor, std::uint64_t n_rows, std::uint64_t dim,
                          std::uint32_t rows, std::uint64_t first_row) {
  return {.tensor = tensor, .rows = rows, .first_row = first_row, .shape = {n_rows, dim}};
}

}  // namespace

std::string LayerTensors::label(std::string_view what) const {
  return fmt::format("layer {} {}", index_, what);
}

MatrixSpec LayerTensors::whole(std::string_view what, std::string_view tensor, std::uint32_t rows,
                               std::uint32_t dim) const {
  return {.label = label(what), .dim = dim, .sources = {rows_of(name(tensor), rows)}};
}

MatrixSpec LayerTensors::qkv(std::string_view group, const AttentionSpec& attention,
                             std::uint32_t dim) const {
  const auto tensor = [&](std::string_view part) { return name(fmt::format("{}.{}.weight", group, part)); };
  std::string fused;
  for (const std::string_view part : {"c_attn", "qkv_proj"}) {
    if (checkpoint_.find(tensor(part)) != nullptr) fused = tensor(part);
  }
  const std::uint32_t head = attention.head_dim;
  const std::uint32_t q_rows = attention.n_heads * head * (attention.output_gate ? 2 : 1);
  const std::uint32_t kv_rows = attention.n_kv_heads * head;
  const std::string q = fused.empty() ? tensor("q_proj") : fused;
  const std::uint32_t n_rows = fused.empty() ? q_rows : q_rows + 2 * kv_rows;  // of the tensor that q is in
  MatrixSpec spec = {.label = label("qkv"), .dim = dim, .sources = {}};
  // Every other head of q_proj with a gate, from `first` on.
  const auto add_heads = [&](std::uint32_t first) {
    for (std::uint32_t h = 0; h < attention.n_heads; ++h) {
      spec.sources.push_back(some_rows_of(q, n_rows, dim, head, std::uint64_t{2 * h + first} * head));
    }
  };
  if (attention.output_gate) {
    add_heads(0);
  } else {
    spec.sources.push_back(some_rows_of(q, n_rows, dim, q_rows, 0));
  }
  if (fused.empty()) {
    spec.sources.push_back(rows_of(tensor("k_proj"), kv_rows));
    spec.sources.push_back(rows_of(tensor("v_proj"), kv_rows));
  } else {
    spec.sources.push_back(some_rows_of(fused, n_rows, dim, 2 * kv_rows, q_rows));
  }
  if (attention.output_gate) add_heads(1);
  return spec;
}

MatrixSpec LayerTensors::gate_up(std::string_view group, std::uint32_t ffn_dim, std::uint32_t dim) const {
  const auto tensor = [&](std::string_view part) { return name(fmt::format("{}.{}.weight", group, part)); };
  MatrixSpec spec = {.label = label("gate and up"), .dim = dim, .sources = {}, .gate_and_up = true};
  if (checkpoint_.find(tensor("gate_up_proj")) != nullptr) {
    spec.sources.push_back(rows_of(tensor("gate_up_proj"), 2 * ffn_dim));
  } else {
    spec.sources.push_back(rows_of(tensor("gate_proj"), ffn_dim));
    spec.sources.push_back(rows_of(tensor("up_proj"), ffn_dim));
  }
  return spec;
}

MlpNames LayerTensors::mlp(std::uint32_t ffn_dim, std::uint32_t dim) const {
  return {.norm = name("post_attention_layernorm.weight"),
          .gate_up = gate_up("mlp", ffn_dim, dim),
          .down = whole("down", "mlp.down_proj.weight", dim, ffn_dim)};
}

AttentionNames LayerTensors::attention(std::string_view norm, std::string_view group, std::string_view out,
                                       const AttentionSpec& spec, std::uint32_t dim) const {
  AttentionNames names = {.norm = name(norm),
                          .in = qkv(group, spec, dim),
                          .q_norm = {},
                          .k_norm = {},
                          .out = whole("attention output", fmt::format("{}.{}.weight", group, out), dim,
                                       spec.n_heads * spec.head_dim)};
  if (spec.qk_norm) {
    names.q_norm = name(fmt::format("{}.q_norm.weight", group));
    names.k_norm = name(fmt::format("{}.k_norm.weight", group));
  }
  return names;
}

void name_ends(WeightNames& names, ModelSpec& spec, const load::Checkpoint& checkpoint, std::string embedding,
               std::string final_norm, std::string head) {
  const auto is_skipped = [&] {
    return std::ranges::find(checkpoint.skipped, head, &load::SkippedTensor::name) !=
           checkpoint.skipped.end();
  };
  spec.tied_head = spec.tied_head && checkpoint.find(head) == nullptr && !is_skipped();
  names.embedding = {
      .label = "embedding", .dim = spec.dim, .sources = {rows_of(std::move(embedding), spec.vocab)}};
  names.final_norm = std::move(final_norm);
  names.head = {.label = "head", .dim = spec.dim, .sources = {}};
  if (!spec.tied_head) names.head.sources.push_back(rows_of(std::move(head), spec.vocab));
}

}  // namespace ztvm::model
