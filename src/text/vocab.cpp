#include "text/vocab.hpp"

#include <fmt/format.h>

#include <functional>

#include "base/in_quotes.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {

Result<void> Vocab::add_unlisted(std::string_view token, std::int64_t id) {
  if (id < 0 || id > k_max_token_id) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("The vocabulary gives token {} the id {}, expected 0 to {}.", in_quotes(token),
                            id, k_max_token_id));
  }
  if (!is_valid_utf8(token)) {
    return fail(ErrorCode::corrupt_file, fmt::format("The token with id {} is no UTF-8 text.", id));
  }
  if (bytes_.size() + token.size() >= k_absent) {
    return fail(ErrorCode::corrupt_file, "The vocabulary holds more than 4 GiB of text.");
  }
  const auto index = static_cast<std::size_t>(id);
  if (index >= tokens_.size()) tokens_.resize(index + 1);
  tokens_[index] = {.offset = static_cast<std::uint32_t>(bytes_.size()),
                    .n_bytes = static_cast<std::uint32_t>(token.size())};
  bytes_ += token;
  return {};
}

Result<void> Vocab::add(std::string_view token, std::int64_t id) {
  if (Result<void> added = add_unlisted(token, id); !added) return added;
  if (2 * (n_listed_ + 1) > slots_.size()) grow_slots();
  TokenId& slot = slots_[slot_of(token)];
  if (slot == k_absent) ++n_listed_;
  slot = static_cast<TokenId>(id);
  return {};
}

std::optional<TokenId> Vocab::find(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const TokenId id = slots_[slot_of(token)];
  if (id == k_absent) return std::nullopt;
  return id;
}

std::optional<std::string_view> Vocab::token(TokenId id) const {
  if (id >= tokens_.size() || tokens_[id].n_bytes == k_absent) return std::nullopt;
  return text_of(id);
}

std::size_t Vocab::slot_of(std::string_view token) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(token)&mask;
  while (slots_[slot] != k_absent && text_of(slots_[slot]) != token) slot = (slot + 1) & mask;
  return slot;
}

void Vocab::grow_slots() {
  const std::vector<TokenId> old = std::move(slots_);
  slots_.assign(old.empty() ? 1024 : 2 * old.size(), k_absent);
  for (const TokenId id : old) {
    if (id != k_absent) slots_[slot_of(text_of(id))] = id;
  }
}

}  // namespace ztvm::text
