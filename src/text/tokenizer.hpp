#pragma once
// Text to token ids and back, exactly as the vendor's tokenizer does it.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "text/added_tokens.hpp"
#include "text/bpe.hpp"
#include "text/decoder.hpp"
#include "text/gguf_vocab.hpp"
#include "text/normalizer.hpp"
#include "text/pretokenizer.hpp"
#include "text/segment.hpp"

namespace ztvm::text {

struct VocabJson;

// Whether "<|im_end|>" in a text is the token of that name or ten characters.
enum class AddedTokens : std::uint8_t { off, on };

class Tokenizer {
 public:
  // Everything that a tokenizer consists of; the loaders fill it.
  struct Parts {
    Bpe bpe;
    Normalizer normalizer;
    PreTokenizer pretokenizer;
    DecoderPlan decoder;
    std::vector<AddedToken> added_tokens;
    std::vector<TokenId> bos_prefix = {};
    std::optional<TokenId> eos = {};
  };
  explicit Tokenizer(Parts parts);

  // Reads the text of a Hugging Face tokenizer.json. Errors: corrupt_file, or unsupported for a component or
  // regular expression that is not known; both name it.
  static Result<Tokenizer> from_json(std::string_view json);
  // The same from a file that is parsed already.
  static Result<Tokenizer> from_vocab_json(VocabJson file);
  // Errors: corrupt_file, or unsupported for a model or pre-tokenizer that is not known.
  static Result<Tokenizer> from_gguf(const GgufVocab& gguf);

  // The ids of `text`, without BOS or EOS. Ill-formed UTF-8 counts as U+FFFD.
  std::vector<TokenId> encode(std::string_view text, AddedTokens added_tokens) const;
  // The ids of the joined segments: added tokens are found within template segments only.
  std::vector<TokenId> encode(std::span<const Segment> segments) const;

  // Errors: invalid_argument for an id that no token has.
  Result<std::string> decode(std::span<const TokenId> ids, bool skip_special) const;

  // The text of `id` as the vocabulary writes it. Errors: invalid_argument, naming the id and the vocabulary
  // size.
  Result<std::string_view> token(TokenId id) const;
  // The added token that reads `content`.
  std::optional<TokenId> find_added_token(std::string_view content) const;
  bool is_added(TokenId id) const;
  bool is_special(TokenId id) const;

  std::size_t vocab_size() const { return parts_.bpe.vocab().size(); }
  const DecoderPlan& decoder() const { return parts_.decoder; }
  // What the tokenizer itself puts before a text that no chat template has rendered: BOS, or nothing.
  std::span<const TokenId> bos_prefix() const { return parts_.bos_prefix; }
  // The end token that the file names; a tokenizer.json names none.
  std::optional<TokenId> eos() const { return parts_.eos; }

 private:
  enum class Role : std::uint8_t { ordinary, added, special };

  // The ids so far, and memory that the words of a text share.
  struct Work {
    std::vector<TokenId> ids;
    BpeScratch scratch;
  };

  std::vector<TokenId> encode_around(std::string_view text, std::span<const AddedTokenMatch> matches,
                                     AddedTokens in_normalized) const;
  void encode_section(std::string_view text, bool begins_text, AddedTokens in_normalized, Work& work) const;
  void encode_words(std::string text, bool begins_text, Work& work) const;
  Role role(TokenId id) const { return id < roles_.size() ? roles_[id] : Role::ordinary; }

  Parts parts_;
  std::vector<Role> roles_;             // by id
  AddedTokenFinder raw_tokens_;         // those looked for in the text as it is
  AddedTokenFinder normalized_tokens_;  // those looked for after normalisation
  AddedTokenFinder template_tokens_;    // all of them, as they are written
};

}  // namespace ztvm::text
