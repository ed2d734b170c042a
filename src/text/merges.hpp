#pragma once
// Merge lists as files have them, and the table that BPE uses.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/added_tokens.hpp"
#include "text/merge_table.hpp"
#include "text/vocab.hpp"

namespace ztvm::text {

using MergePair = std::pair<std::string, std::string>;

// Splits "left right" at its only space. Errors: corrupt_file.
Result<MergePair> split_merge(std::string_view merge);

// The table of `pairs`, best first. Merges into special tokens are left out: they'd make content a control
// token. Errors: corrupt_file if `vocab` lacks a token of a pair or their joined token.
Result<MergeTable> make_merge_table(const Vocab& vocab, std::span<const MergePair> pairs,
                                    std::span<const AddedToken> added_tokens);

// SentencePiece's rule in place of a list: neighbours merge when their joined text is a token, the one with
// the highest score first. `scores` is indexed by id, covers the vocabulary and is free of NaN.
MergeTable make_merge_table(const Vocab& vocab, std::span<const float> scores,
                            std::span<const AddedToken> added_tokens);

}  // namespace ztvm::text
