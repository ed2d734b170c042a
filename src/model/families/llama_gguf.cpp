#include "model/families/llama_gguf.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/in_quotes.hpp"

namespace ztvm::model {
namespace {

// Angles of RoPE, which files of some years ago have, and its factors, which are read with the header.
constexpr std::string_view k_unused[] = {"attn_rot_embd", "rope_freqs"};

// Numbers of one header, each checked against a range, so that nothing later overflows.
class Reader {
 public:
  Reader(const load::GgufMetadata& metadata, const std::string& file) : metadata_(metadata), file_(file) {}

  std::uint32_t integer(std::string_view key, std::uint64_t low, std::uint64_t high) {
    return take(key, metadata_.get_uint(key), low, high);
  }
  std::uint32_t integer_or(std::string_view key, std::uint32_t fallback, std::uint64_t low,
                           std::uint64_t high) {
    auto value = metadata_.find_uint(key);
    if (!value) keep(forward(value).error());
    if (!value || !*value) return fallback;
    return take(key, **value, low, high);
  }
  double number_or(std::string_view key, double fallback, double low, double high) {
    auto value = metadata_.find_float(key);
    if (!value) keep(forward(value).error());
    const double result = value && *value ? **value : fallback;
    if (!(result >= low && result <= high)) {
      keep({ErrorCode::corrupt_file,
            fmt::format("{} has {} in key \"{}\", expected {} to {}.", file_, result, key, low, high)});
      return low;
    }
    return result;
  }
  void require(bool condition, std::string text) {
    if (!condition) keep({ErrorCode::unsupported, fmt::format("{} {}", file_, text)});
  }
  Result<void> status() { return error_.text.empty() ? Result<void>() : std::unexpected(error_); }

 private:
  std::uint32_t take(std::string_view key, Result<std::uint64_t> value, std::uint64_t low,
                     std::uint64_t high) {
    if (!value) {
      keep(forward(value).error());
      return static_cast<std::uint32_t>(low);
    }
    if (*value < low || *value > high) {
      keep({ErrorCode::corrupt_file,
            fmt::format("{} has {} in key \"{}\", expected {} to {}.", file_, *value, key, low, high)});
      return static_cast<std::uint32_t>(low);
    }
    return static_cast<std::uint32_t>(*value);
  }
  void keep(Error error) {
    if (error_.text.empty()) error_ = std::move(error);
  }

  const load::GgufMetadata& metadata_;
  const std::string& file_;
  Error error_;
};

LayerNames layer_names(std::uint32_t index, const ModelSpec& spec, const AttentionSpec& attention,
                       std::uint32_t ffn_dim) {
  const auto name = [index](std::string_view part) { return fmt::format("blk.{}.{}.weight", index, part); };
  const auto label = [index](std::string_view part) { return fmt::format("layer {} {}", index, part); };
  const std::uint32_t q_rows = attention.n_heads * attention.head_dim;
  const std::uint32_t kv_rows = attention.n_kv_heads * attention.head_dim;
  return {
      .mixer = AttentionNames{.norm = name("attn_norm"),
                              .in = {.label = label("qkv"),
                                     .dim = spec.dim,
                                     .sources = {{.tensor = name("attn_q"),
                                                  .rows = q_rows,
                                                  .unpermute_head_dim = attention.head_dim},
                                                 {.tensor = name("attn_k"),
                                                  .rows = kv_rows,
                                                  .unpermute_head_dim = attention.head_dim},
                                                 {.tensor = name("attn_v"), .rows = kv_rows}}},
                              .q_norm = {},
                              .k_norm = {},
                              .out = {.label = label("attention output"),
                                      .dim = q_rows,
                                      .sources = {{.tensor = name("attn_output"), .rows = spec.dim}}}},
      .ffn = MlpNames{.norm = name("ffn_norm"),
                      .gate_up = {.label = label("gate and up"),
                                  .dim = spec.dim,
                                  .sources = {{.tensor = name("ffn_gate"), .rows = ffn_dim},
                                              {.tensor = name("ffn_up"), .rows = ffn_dim}},
                                  .gate_and_up = true},
                      .down = {.label = label("down"),
                               .dim = ffn_dim,
                               .sources = {{.tensor = name("ffn_down"), .rows = spec.dim}}}},
  };
}

// Scaled RoPE changes every angle. Without a type a factor means linear scaling, as llama.cpp reads it; 0 is none.
Result<void> require_plain_rope(const load::GgufMetadata& metadata, const load::Checkpoint& file) {
  auto type = metadata.find_string("llama.rope.scaling.type");
  if (!type) return forward(type);
  const std::string kind = type->value_or("linear");
  if (kind != "none" && kind != "linear") {
    return fail(ErrorCode::unsupported,
                fmt::format("{} uses RoPE scaling {}, expected none.", file.name, in_quotes(kind)));
  }
  for (const std::string_view key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    auto factor = metadata.find_float(key);
    if (!factor) return forward(factor);
    if (kind == "none" || !*factor || **factor == 0.0 || **factor == 1.0) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("{} has {} in key \"{}\", expected 1 (no scaling).", file.name, **factor, key));
  }
  return {};
}

Result<void> check_vocab_size(const load::GgufMetadata& metadata, std::uint32_t n_rows) {
  constexpr std::string_view k_key = "llama.vocab_size";
  auto size = metadata.find_uint(k_key);
  if (!size) return forward(size);
  const std::uint64_t n_tokens = metadata.array_length("tokenizer.ggml.tokens").value_or(0);
  if (!*size || (**size >= n_tokens && **size > 0 && **size <= n_rows)) return {};
  return fail(
      ErrorCode::corrupt_file,
      fmt::format("{} has {} in key \"{}\", expected at least its {} tokens and at most the {} rows of "
                  "\"token_embd.weight\".",
                  metadata.file(), **size, k_key, n_tokens, n_rows));
}

// The vocabulary is as long as the embedding: metadata may count only the tokens.
Result<std::uint32_t> vocabulary_rows(const load::Checkpoint& file) {
  const load::TensorRecord* embedding = file.find("token_embd.weight");
  if (embedding == nullptr) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} has no tensor \"token_embd.weight\".", file.name));
  }
  constexpr std::uint64_t k_most = 1u << 24;
  if (embedding->n_rows() == 0 || embedding->n_rows() > k_most) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensor \"token_embd.weight\" has {} rows, expected 1 to {}, in {}.",
                            embedding->n_rows(), k_most, file.name));
  }
  return static_cast<std::uint32_t>(embedding->n_rows());
}

}  // namespace

Result<Family> llama_from_gguf(const load::GgufMetadata& metadata, const load::Checkpoint& file) {
  Reader reader(metadata, file.name);
  Family family = {.spec = {}, .names = {}, .unused = k_unused};
  ModelSpec& spec = family.spec;
  spec.architecture = "llama";
  const std::uint32_t n_layers = reader.integer("llama.block_count", 1, 1024);
  spec.dim = reader.integer("llama.embedding_length", 32, 65536);
  spec.max_context = reader.integer("llama.context_length", 1, 1u << 24);
  const std::uint32_t window = reader.integer_or("llama.attention.sliding_window", 0, 0, UINT32_MAX);
  if (window != 0) spec.max_context = std::min(spec.max_context, window);  // attention is full within it
  spec.rms_eps =
      static_cast<float>(reader.number_or("llama.attention.layer_norm_rms_epsilon", 1e-5, 0.0, 1.0));
  spec.rope_theta = reader.number_or("llama.rope.freq_base", 10000.0, 1.0, 1e12);
  const std::uint32_t ffn_dim = reader.integer("llama.feed_forward_length", 32, 1u << 20);
  AttentionSpec attention;
  attention.n_heads = reader.integer("llama.attention.head_count", 1, 1024);
  attention.n_kv_heads = reader.integer_or("llama.attention.head_count_kv", attention.n_heads, 1, 1024);
  attention.head_dim = reader.integer_or("llama.attention.key_length", spec.dim / attention.n_heads, 2, 256);
  attention.n_rotated = reader.integer_or("llama.rope.dimension_count", attention.head_dim, 2, 256);
  if (auto status = reader.status(); !status) return forward(status);

  reader.require(attention.n_heads % attention.n_kv_heads == 0,
                 fmt::format("has {} query heads and {} key-value heads, expected a multiple.",
                             attention.n_heads, attention.n_kv_heads));
  reader.require(
      attention.head_dim >= 4 && attention.head_dim % 4 == 0 && attention.head_dim <= 256,
      fmt::format("has heads of {} elements, expected a multiple of 4 up to 256.", attention.head_dim));
  reader.require(attention.n_rotated == attention.head_dim,
                 fmt::format("rotates {} of {} elements of a head, expected all.", attention.n_rotated,
                             attention.head_dim));
  if (auto status = reader.status(); !status) return forward(status);
  if (auto plain = require_plain_rope(metadata, file); !plain) return forward(plain);

  auto rows = vocabulary_rows(file);
  if (!rows) return forward(rows);
  if (auto checked = check_vocab_size(metadata, *rows); !checked) return forward(checked);
  spec.vocab = *rows;
  spec.n_valid_ids = *rows;
  spec.tied_head = file.find("output.weight") == nullptr;
  for (std::uint32_t i = 0; i < n_layers; ++i) {
    spec.layers.push_back({.mixer = attention, .ffn = MlpSpec{ffn_dim}});
    family.names.layers.push_back(layer_names(i, spec, attention, ffn_dim));
  }
  family.names.embedding = {.label = "embedding",
                            .dim = spec.dim,
                            .sources = {{.tensor = "token_embd.weight", .rows = spec.vocab}}};
  family.names.final_norm = "output_norm.weight";
  family.names.head = {.label = "head", .dim = spec.dim, .sources = {}};
  if (!spec.tied_head) family.names.head.sources.push_back({.tensor = "output.weight", .rows = spec.vocab});
  return family;
}

}  // namespace ztvm::model
