#pragma once
// The tokenizer that a GGUF carries in its metadata, as plain checked data.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "load/gguf_metadata.hpp"

namespace ztvm::load {

struct GgufVocabFields {
  std::string model;                // "gpt2" (byte-level BPE), "llama" (SentencePiece), ...
  std::string pre;                  // name of the pre-tokenizer, "default" when the file has none
  std::vector<std::string> tokens;  // [vocab], the index is the id
  std::vector<std::string> merges;  // "a b", in order of rank; may be empty
  std::vector<float> scores;        // [vocab] or empty; of SentencePiece, in place of merges
  std::vector<std::int32_t>
      token_types;  // [vocab] or empty; 1 normal, 2 unknown, 3 control, 4 user, 5 unused, 6 byte
  std::optional<std::uint32_t> bos;  // ids are below vocab
  std::optional<std::uint32_t> eos;
  std::optional<std::uint32_t> unk;
  std::optional<std::uint32_t> pad;
  bool add_bos = false;
  bool add_space_prefix = true;  // before a text, for "llama"
  std::string chat_template;     // Jinja; empty when the file has none
};

// Errors name the key: not_found without model or tokens; corrupt_file for another type, an id outside the
// vocabulary, an unknown token type, a merge that is not two parts, or lists of different length.
Result<GgufVocabFields> read_gguf_vocab(const GgufMetadata& metadata);

}  // namespace ztvm::load
