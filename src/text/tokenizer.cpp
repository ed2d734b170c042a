#include "text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/stream_decoder.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

AddedTokenFinder make_finder(std::span<const AddedToken> tokens, const Normalizer& normalizer) {
  std::vector<std::string> patterns;
  for (const AddedToken& token : tokens) patterns.push_back(normalize(normalizer, token.content));
  return {tokens, patterns};
}

// Goes through a text of `n_bytes` in order: the parts between matches that are not empty, and the matches.
template <typename OnPart, typename OnMatch>
void walk(std::span<const AddedTokenMatch> matches, std::size_t n_bytes, OnPart on_part, OnMatch on_match) {
  std::size_t position = 0;
  for (const AddedTokenMatch& match : matches) {
    if (position < match.begin) on_part(position, match.begin);
    on_match(match.id);
    position = match.end;
  }
  if (position < n_bytes) on_part(position, n_bytes);
}

}  // namespace

Tokenizer::Tokenizer(Parts parts)
    : parts_(std::move(parts)), roles_(parts_.bpe.vocab().size(), Role::ordinary) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  for (const AddedToken& token : parts_.added_tokens) {
    (token.normalized ? normalized : raw).push_back(token);
    check(token.id < roles_.size(), "an added token must be in the vocabulary");
    roles_[token.id] = token.is_special ? Role::special : Role::added;
  }
  raw_tokens_ = make_finder(raw, {});
  normalized_tokens_ = make_finder(normalized, parts_.normalizer);
  template_tokens_ = make_finder(parts_.added_tokens, {});
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, AddedTokens added_tokens) const {
  std::string valid;
  append_valid_utf8(valid, text);
  std::vector<AddedTokenMatch> matches;
  if (added_tokens == AddedTokens::on) raw_tokens_.find(valid, 0, valid.size(), matches);
  return encode_around(valid, matches, added_tokens);
}

std::vector<TokenId> Tokenizer::encode(std::span<const Segment> segments) const {
  std::string text;
  std::vector<std::size_t> ends;
  for (const Segment& segment : segments) {
    append_valid_utf8(text, segment.text);
    ends.push_back(text.size());
  }
  std::vector<AddedTokenMatch> matches;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    if (segments[i].origin == Origin::chat_template) template_tokens_.find(text, begin, ends[i], matches);
  }
  return encode_around(text, matches, AddedTokens::off);
}

// Encodes what lies between the matches, each section by itself.
std::vector<TokenId> Tokenizer::encode_around(std::string_view text, std::span<const AddedTokenMatch> matches,
                                              AddedTokens in_normalized) const {
  Work work;
  walk(
      matches, text.size(),
      [&](std::size_t begin, std::size_t end) {
        encode_section(text.substr(begin, end - begin), begin == 0, in_normalized, work);
      },
      [&](TokenId id) { work.ids.push_back(id); });
  return std::move(work.ids);
}

void Tokenizer::encode_section(std::string_view text, bool begins_text, AddedTokens in_normalized,
                               Work& work) const {
  const std::string normalized = normalize(parts_.normalizer, text);
  std::vector<AddedTokenMatch> matches;
  if (in_normalized == AddedTokens::on) normalized_tokens_.find(normalized, 0, normalized.size(), matches);
  walk(
      matches, normalized.size(),
      [&](std::size_t begin, std::size_t end) {
        encode_words(normalized.substr(begin, end - begin), begins_text && begin == 0, work);
      },
      [&](TokenId id) { work.ids.push_back(id); });
}

void Tokenizer::encode_words(std::string text, bool begins_text, Work& work) const {
  const Words words = split_words(parts_.pretokenizer, std::move(text), begins_text);
  for (std::size_t i = 0; i < words.size(); ++i) parts_.bpe.encode(words[i], work.scratch, work.ids);
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  StreamDecoder decoder(*this, skip_special);
  std::string text;
  for (const TokenId id : ids) {
    if (Result<void> pushed = decoder.push(id, text); !pushed) return forward(pushed);
  }
  decoder.finish(text);
  return text;
}

Result<std::string_view> Tokenizer::token(TokenId id) const {
  if (const std::optional<std::string_view> text = parts_.bpe.vocab().token(id)) return *text;
  return fail(ErrorCode::invalid_argument,
              fmt::format("Token id {} is not in the vocabulary, which has {} ids.", id, vocab_size()));
}

std::optional<TokenId> Tokenizer::find_added_token(std::string_view content) const {
  const auto found = std::ranges::find(parts_.added_tokens, content, &AddedToken::content);
  if (found == parts_.added_tokens.end()) return std::nullopt;
  return found->id;
}

bool Tokenizer::is_added(TokenId id) const { return role(id) != Role::ordinary; }
bool Tokenizer::is_special(TokenId id) const { return role(id) == Role::special; }

}  // namespace ztvm::text
