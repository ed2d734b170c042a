#pragma once
// Byte pair encoding of one word: its characters or bytes become tokens, then neighbours merge in order of
// rank.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/merge_table.hpp"
#include "text/vocab.hpp"

namespace ztvm::text {

struct BpeOptions {
  bool byte_level = false;     // symbols are bytes, written in the byte alphabet; else characters
  bool byte_fallback = false;  // a character without a token becomes its bytes' tokens "<0xHH>"
  bool fuse_unk = false;       // neighbouring unknown characters become one `unk`
  bool ignore_merges = false;  // a word that is a token needs no merging
  std::optional<TokenId> unk;  // without it unknown characters vanish
};

// What encode() needs while it works; kept by the caller so that words share its memory.
struct BpeScratch {
  struct Symbol {
    TokenId id = 0;
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
    bool is_alive = true;
  };
  struct Candidate {
    std::uint32_t rank = 0;
    std::uint32_t position = 0;  // of the left symbol
    TokenId merged = 0;
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> queue;  // a heap, best candidate in front
  std::string spelling;
};

class Bpe {
 public:
  // Errors: unsupported where byte_level and byte_fallback meet in a vocabulary that lacks bytes.
  static Result<Bpe> create(Vocab vocab, MergeTable merges, const BpeOptions& options);

  // Appends the tokens of `word`, well formed UTF-8 (any bytes at byte level). O(n log n) in its length.
  void encode(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const;

  const Vocab& vocab() const { return vocab_; }
  bool is_byte_level() const { return options_.byte_level; }

 private:
  void split_into_bytes(std::string_view word, BpeScratch& scratch) const;
  void split_into_characters(std::string_view word, BpeScratch& scratch) const;
  bool append_fallback(std::string_view character, BpeScratch& scratch) const;
  void merge(BpeScratch& scratch) const;
  void propose(std::uint32_t left, std::uint32_t right, BpeScratch& scratch) const;

  Vocab vocab_;
  MergeTable merges_;
  BpeOptions options_;
  std::array<std::optional<TokenId>, 256> byte_tokens_;  // at byte level the byte itself, else its "<0xHH>"
};

}  // namespace ztvm::text
