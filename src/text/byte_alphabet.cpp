#include "text/byte_alphabet.hpp"

#include <array>

#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr char32_t k_first_substitute = 0x100;
constexpr std::size_t k_n_substitutes = 68;

constexpr std::array<char32_t, 256> k_alphabet = [] {
  std::array<char32_t, 256> result{};
  char32_t substitute = k_first_substitute;
  for (unsigned byte = 0; byte < 256; ++byte) {
    result[byte] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : substitute++;
  }
  return result;
}();

constexpr std::array<std::uint8_t, k_n_substitutes> k_substituted_bytes = [] {
  std::array<std::uint8_t, k_n_substitutes> result{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!stands_for_itself(byte))
      result[k_alphabet[byte] - k_first_substitute] = static_cast<std::uint8_t>(byte);
  }
  return result;
}();

}  // namespace

char32_t byte_to_alphabet(std::uint8_t byte) { return k_alphabet[byte]; }

std::optional<std::uint8_t> alphabet_to_byte(char32_t code_point) {
  if (code_point < k_first_substitute) {
    if (!stands_for_itself(static_cast<unsigned>(code_point))) return std::nullopt;
    return static_cast<std::uint8_t>(code_point);
  }
  if (code_point >= k_first_substitute + k_n_substitutes) return std::nullopt;
  return k_substituted_bytes[code_point - k_first_substitute];
}

void append_token_bytes(std::string& out, std::string_view token) {
  const std::size_t n_bytes_before = out.size();
  for (std::string_view rest = token; !rest.empty();) {
    const Character character = first_character(rest);
    const std::optional<std::uint8_t> byte = alphabet_to_byte(character.code_point);
    if (!byte) {
      out.resize(n_bytes_before);
      out += token;
      return;
    }
    out.push_back(static_cast<char>(*byte));
    rest.remove_prefix(character.n_bytes);
  }
}

void append_in_alphabet(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) append_utf8(out, byte_to_alphabet(static_cast<std::uint8_t>(byte)));
}

}  // namespace ztvm::text
