#pragma once
// Which neighbouring tokens join into which token, and in which order.
#include <cstdint>
#include <vector>

#include "text/vocab.hpp"

namespace ztvm::text {

class MergeTable {
 public:
  struct Merge {
    std::uint32_t rank = 0;  // lower ranks merge first
    TokenId merged = 0;
  };

  void reserve(std::size_t n_merges);
  // `left` followed by `right` becomes `merge.merged`; a later call for the same pair wins.
  void add(TokenId left, TokenId right, Merge merge);
  // The merge of a pair, or null.
  const Merge* find(TokenId left, TokenId right) const;

 private:
  struct Entry {
    std::uint64_t pair = k_free;
    Merge merge;
  };
  static constexpr std::uint64_t k_free = ~std::uint64_t{0};  // token ids are far below

  std::size_t slot_of(std::uint64_t pair) const;

  std::vector<Entry> entries_;  // open addressing, at most half full
  std::size_t n_merges_ = 0;
};

}  // namespace ztvm::text
