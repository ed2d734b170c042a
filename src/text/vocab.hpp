#pragma once
// The tokens of a vocabulary: id to text and text to id, in one block of bytes and two flat tables.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ztvm::text {

using TokenId = std::uint32_t;

// Ids are indices of tables, so an id from a file may not be arbitrarily large.
inline constexpr TokenId k_max_token_id = (1u << 22) - 1;

class Vocab {
 public:
  // Gives `id` its text, which must be well formed UTF-8, and makes it findable; a later call for either
  // wins. Errors: corrupt_file if the id is above k_max_token_id or the text is no UTF-8.
  Result<void> add(std::string_view token, std::int64_t id);
  // The same for a token that only decoding knows: find() does not give it.
  Result<void> add_unlisted(std::string_view token, std::int64_t id);

  std::optional<TokenId> find(std::string_view token) const;
  // The text of `id`, or nothing if no token has that id.
  std::optional<std::string_view> token(TokenId id) const;
  // One more than the highest id.
  std::size_t size() const { return tokens_.size(); }

 private:
  struct Span {
    std::uint32_t offset = 0;
    std::uint32_t n_bytes = k_absent;
  };
  static constexpr std::uint32_t k_absent = 0xFFFFFFFFu;

  std::string_view text_of(TokenId id) const {
    return {bytes_.data() + tokens_[id].offset, tokens_[id].n_bytes};
  }
  std::size_t slot_of(std::string_view token) const;
  void grow_slots();

  std::string bytes_;
  std::vector<Span> tokens_;    // by id
  std::vector<TokenId> slots_;  // open addressing by text; k_absent: free
  std::size_t n_listed_ = 0;
};

}  // namespace ztvm::text
