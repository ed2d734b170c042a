#include "text/merges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/in_quotes.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

// Special tokens by id.
std::vector<bool> special_ids(const Vocab& vocab, std::span<const AddedToken> added_tokens) {
  std::vector<bool> is_special(vocab.size(), false);
  for (const AddedToken& token : added_tokens) {
    if (token.is_special && token.id < is_special.size()) is_special[token.id] = true;
  }
  return is_special;
}

std::unexpected<Error> lacks_token(std::size_t rank, const MergePair& pair, std::string_view token) {
  return fail(ErrorCode::corrupt_file,
              fmt::format("Merge {} ({} + {}) needs the token {}, which the "
                          "vocabulary lacks.",
                          rank, in_quotes(pair.first), in_quotes(pair.second), in_quotes(token)));
}

}  // namespace

Result<MergePair> split_merge(std::string_view merge) {
  const std::size_t space = merge.find(' ');
  if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("The merge {} is not of the form \"left right\" with one space.", in_quotes(merge)));
  }
  return MergePair(merge.substr(0, space), merge.substr(space + 1));
}

Result<MergeTable> make_merge_table(const Vocab& vocab, std::span<const MergePair> pairs,
                                    std::span<const AddedToken> added_tokens) {
  const std::vector<bool> is_special = special_ids(vocab, added_tokens);
  MergeTable table;
  table.reserve(pairs.size());
  std::string joined;
  for (std::size_t rank = 0; rank < pairs.size(); ++rank) {
    const auto& [left, right] = pairs[rank];
    joined = left;
    joined += right;
    const std::optional<TokenId> left_id = vocab.find(left);
    const std::optional<TokenId> right_id = vocab.find(right);
    const std::optional<TokenId> joined_id = vocab.find(joined);
    if (!left_id) return lacks_token(rank, pairs[rank], left);
    if (!right_id) return lacks_token(rank, pairs[rank], right);
    if (!joined_id) return lacks_token(rank, pairs[rank], joined);
    if (is_special[*joined_id]) continue;
    table.add(*left_id, *right_id, {.rank = static_cast<std::uint32_t>(rank), .merged = *joined_id});
  }
  return table;
}

MergeTable make_merge_table(const Vocab& vocab, std::span<const float> scores,
                            std::span<const AddedToken> added_tokens) {
  const std::vector<bool> is_special = special_ids(vocab, added_tokens);
  std::vector<TokenId> best_first(vocab.size());
  std::iota(best_first.begin(), best_first.end(), TokenId{0});
  std::ranges::sort(best_first, {}, [&](TokenId id) { return std::pair(-scores[id], id); });
  MergeTable table;
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < best_first.size(); ++i) {
    const TokenId merged = best_first[i];
    if (i > 0 && scores[merged] != scores[best_first[i - 1]]) ++rank;  // equal scores merge leftmost first
    const std::string_view text = vocab.token(merged).value_or("");
    if (text.empty() || is_special[merged]) continue;
    for (std::size_t cut = first_character(text).n_bytes; cut < text.size();
         cut += first_character(text.substr(cut)).n_bytes) {
      const std::optional<TokenId> left = vocab.find(text.substr(0, cut));
      const std::optional<TokenId> right = vocab.find(text.substr(cut));
      if (left && right) table.add(*left, *right, {.rank = rank, .merged = merged});
    }
  }
  return table;
}

}  // namespace ztvm::text
