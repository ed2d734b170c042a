#include "text/merge_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ztvm::text {
namespace {

std::uint64_t pack(TokenId left, TokenId right) { return static_cast<std::uint64_t>(left) << 32 | right; }

}  // namespace

void MergeTable::reserve(std::size_t n_merges) {
  const std::size_t n_slots = std::bit_ceil(std::max<std::size_t>(2 * n_merges, 64));
  if (n_slots <= entries_.size()) return;
  const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(n_slots));
  for (const Entry& entry : old) {
    if (entry.pair != k_free) entries_[slot_of(entry.pair)] = entry;
  }
}

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  if (2 * (n_merges_ + 1) > entries_.size()) reserve(2 * (n_merges_ + 1));
  Entry& entry = entries_[slot_of(pack(left, right))];
  if (entry.pair == k_free) ++n_merges_;
  entry = {.pair = pack(left, right), .merge = merge};
}

const MergeTable::Merge* MergeTable::find(TokenId left, TokenId right) const {
  if (entries_.empty()) return nullptr;
  const Entry& entry = entries_[slot_of(pack(left, right))];
  return entry.pair == k_free ? nullptr : &entry.merge;
}

std::size_t MergeTable::slot_of(std::uint64_t pair) const {
  const std::size_t mask = entries_.size() - 1;
  std::size_t slot = static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15u) >> 32) & mask;
  while (entries_[slot].pair != pair && entries_[slot].pair != k_free) slot = (slot + 1) & mask;
  return slot;
}

}  // namespace ztvm::text
