#pragma once
// The tokenizer part of a GGUF file's metadata, as the loader hands it over.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ztvm::text {

// Field comments name the metadata keys. Nothing in here has been checked but the types.
struct GgufVocab {
  std::string model = {};  // tokenizer.ggml.model: "gpt2" (byte-level BPE) or "llama" (Metaspace BPE)
  std::string pre = {};    // tokenizer.ggml.pre: "smollm", "qwen2", "llama-bpe", ...; for gpt2 only
  std::vector<std::string> tokens = {};  // tokenizer.ggml.tokens, by id
  std::vector<std::string> merges = {};  // tokenizer.ggml.merges, "left right", best first
  std::vector<float> scores = {};  // tokenizer.ggml.scores, by id: stands in for merges of a llama model
  std::vector<std::int32_t> token_types = {};  // tokenizer.ggml.token_type, by id; may be empty
  std::optional<std::uint32_t> bos_id = {};    // tokenizer.ggml.bos_token_id
  std::optional<std::uint32_t> eos_id = {};    // tokenizer.ggml.eos_token_id
  std::optional<std::uint32_t> unk_id = {};    // tokenizer.ggml.unknown_token_id
  std::optional<std::uint32_t> pad_id = {};    // tokenizer.ggml.padding_token_id
  bool add_bos = false;                        // tokenizer.ggml.add_bos_token
  bool add_space_prefix = true;                // tokenizer.ggml.add_space_prefix; for llama only
  std::string chat_template = {};              // tokenizer.chat_template; may be empty
};

}  // namespace ztvm::text
