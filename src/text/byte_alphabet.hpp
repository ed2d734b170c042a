#pragma once
// The alphabet of byte-level BPE: 256 printable characters that stand for the 256 bytes in vocabularies
// (GPT-2's bytes_to_unicode). Printable bytes of Latin-1 stand for themselves, the others for U+0100 onwards.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ztvm::text {

char32_t byte_to_alphabet(std::uint8_t byte);
std::optional<std::uint8_t> alphabet_to_byte(char32_t code_point);

// Appends the bytes that `token` stands for, or `token` itself where a character is not of the alphabet.
void append_token_bytes(std::string& out, std::string_view token);
// Appends `bytes` written in the alphabet.
void append_in_alphabet(std::string& out, std::string_view bytes);

}  // namespace ztvm::text
