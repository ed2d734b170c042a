#include "text/bpe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "text/byte_alphabet.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

constexpr std::uint32_t k_none = 0xFFFFFFFFu;

// Orders the heap: lowest rank first, leftmost first among equals.
bool is_worse(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) {
  return std::pair(a.rank, a.position) > std::pair(b.rank, b.position);
}

// Gathers unknown characters: with `fuse` a row of them is one token, else each is one.
class UnknownRun {
 public:
  UnknownRun(const BpeOptions& options, std::vector<BpeScratch::Symbol>& symbols)
      : options_(options), symbols_(symbols) {}
  void add() {
    if (!options_.unk) return;
    if (!options_.fuse_unk) flush();
    is_pending_ = true;
  }
  void flush() {
    if (is_pending_) symbols_.push_back({.id = *options_.unk});
    is_pending_ = false;
  }

 private:
  const BpeOptions& options_;
  std::vector<BpeScratch::Symbol>& symbols_;
  bool is_pending_ = false;
};

}  // namespace

Result<Bpe> Bpe::create(Vocab vocab, MergeTable merges, const BpeOptions& options) {
  Bpe bpe;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string name;
    if (options.byte_level) {
      append_utf8(name, byte_to_alphabet(static_cast<std::uint8_t>(byte)));
    } else {
      name = fmt::format("<0x{:02X}>", byte);
    }
    bpe.byte_tokens_[byte] = vocab.find(name);
    if (options.byte_level && options.byte_fallback && !bpe.byte_tokens_[byte]) {
      return fail(ErrorCode::unsupported,
                  fmt::format("The byte-level vocabulary has byte_fallback but no token for byte {}.", byte));
    }
  }
  bpe.vocab_ = std::move(vocab);
  bpe.merges_ = std::move(merges);
  bpe.options_ = options;
  return bpe;
}

void Bpe::encode(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const {
  if (options_.ignore_merges) {
    std::string_view spelling = word;
    if (options_.byte_level) {
      scratch.spelling.clear();
      append_in_alphabet(scratch.spelling, word);
      spelling = scratch.spelling;
    }
    if (const std::optional<TokenId> whole = vocab_.find(spelling)) {
      out.push_back(*whole);
      return;
    }
  }
  scratch.symbols.clear();
  if (options_.byte_level) {
    split_into_bytes(word, scratch);
  } else {
    split_into_characters(word, scratch);
  }
  if (scratch.symbols.empty()) return;
  merge(scratch);
  for (std::uint32_t i = 0; i != k_none; i = scratch.symbols[i].next) out.push_back(scratch.symbols[i].id);
}

void Bpe::split_into_bytes(std::string_view word, BpeScratch& scratch) const {
  UnknownRun unknown(options_, scratch.symbols);
  for (const char c : word) {
    const std::optional<TokenId> token = byte_tokens_[static_cast<std::uint8_t>(c)];
    if (!token) {
      unknown.add();
      continue;
    }
    unknown.flush();
    scratch.symbols.push_back({.id = *token});
  }
  unknown.flush();
}

void Bpe::split_into_characters(std::string_view word, BpeScratch& scratch) const {
  UnknownRun unknown(options_, scratch.symbols);
  while (!word.empty()) {
    const std::string_view character = word.substr(0, first_character(word).n_bytes);
    word.remove_prefix(character.size());
    if (const std::optional<TokenId> token = vocab_.find(character)) {
      unknown.flush();
      scratch.symbols.push_back({.id = *token});
    } else if (!append_fallback(character, scratch)) {
      unknown.add();
    }
  }
  unknown.flush();
}

bool Bpe::append_fallback(std::string_view character, BpeScratch& scratch) const {
  const auto token_of = [&](char byte) { return byte_tokens_[static_cast<std::uint8_t>(byte)]; };
  if (!options_.byte_fallback) return false;
  if (!std::ranges::all_of(character, [&](char byte) { return token_of(byte).has_value(); })) return false;
  for (const char byte : character) scratch.symbols.push_back({.id = *token_of(byte)});
  return true;
}

void Bpe::propose(std::uint32_t left, std::uint32_t right, BpeScratch& scratch) const {
  const MergeTable::Merge* merge = merges_.find(scratch.symbols[left].id, scratch.symbols[right].id);
  if (merge == nullptr) return;
  scratch.queue.push_back({.rank = merge->rank, .position = left, .merged = merge->merged});
}

void Bpe::merge(BpeScratch& scratch) const {
  auto& symbols = scratch.symbols;
  auto& queue = scratch.queue;
  const auto n_symbols = narrow<std::uint32_t>(symbols.size());
  queue.clear();
  for (std::uint32_t i = 0; i < n_symbols; ++i) {
    symbols[i].previous = i == 0 ? k_none : i - 1;
    symbols[i].next = i + 1 == n_symbols ? k_none : i + 1;
    if (i + 1 < n_symbols) propose(i, i + 1, scratch);
  }
  std::ranges::make_heap(queue, is_worse);
  const auto propose_on_heap = [&](std::uint32_t left, std::uint32_t right) {
    const std::size_t n_before = queue.size();
    propose(left, right, scratch);
    if (queue.size() > n_before) std::ranges::push_heap(queue, is_worse);
  };
  while (!queue.empty()) {
    std::ranges::pop_heap(queue, is_worse);
    const BpeScratch::Candidate best = queue.back();
    queue.pop_back();
    BpeScratch::Symbol& left = symbols[best.position];
    if (!left.is_alive || left.next == k_none) continue;
    BpeScratch::Symbol& right = symbols[left.next];
    // A neighbour may have merged since this was proposed.
    const MergeTable::Merge* current = merges_.find(left.id, right.id);
    if (current == nullptr || current->merged != best.merged) continue;
    left.id = best.merged;
    right.is_alive = false;
    left.next = right.next;
    if (left.next != k_none) symbols[left.next].previous = best.position;
    if (left.previous != k_none) propose_on_heap(left.previous, best.position);
    if (left.next != k_none) propose_on_heap(best.position, left.next);
  }
}

}  // namespace ztvm::text
