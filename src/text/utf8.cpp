#include "text/utf8.hpp"

#include <algorithm>

namespace ztvm::text {
namespace {

struct LeadByte {
  std::size_t n_bytes = 0;  // 0: cannot lead
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

LeadByte classify_lead(unsigned char byte) {
  if (byte < 0x80) return {.n_bytes = 1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {.n_bytes = 2};
  if (byte == 0xE0) return {.n_bytes = 3, .second_min = 0xA0};
  if (byte == 0xED) return {.n_bytes = 3, .second_max = 0x9F};
  if (byte < 0xF0) return {.n_bytes = 3};
  if (byte == 0xF0) return {.n_bytes = 4, .second_min = 0x90};
  if (byte < 0xF4) return {.n_bytes = 4};
  if (byte == 0xF4) return {.n_bytes = 4, .second_max = 0x8F};
  return {};
}

}  // namespace

Utf8Step next_utf8(std::string_view bytes) {
  const LeadByte lead = classify_lead(static_cast<unsigned char>(bytes[0]));
  if (lead.n_bytes == 0) return {.kind = Utf8Kind::invalid, .n_bytes = 1};
  for (std::size_t i = 1; i < lead.n_bytes; ++i) {
    if (i == bytes.size()) return {.kind = Utf8Kind::truncated, .n_bytes = i};
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const unsigned char min = i == 1 ? lead.second_min : 0x80;
    const unsigned char max = i == 1 ? lead.second_max : 0xBF;
    if (byte < min || byte > max) return {.kind = Utf8Kind::invalid, .n_bytes = i};
  }
  return {.kind = Utf8Kind::complete, .n_bytes = lead.n_bytes};
}

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {((lead & 0x1F) << 6) | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {((lead & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F), 3};
  return {((lead & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F), 4};
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Step step = next_utf8(bytes);
    if (step.kind != Utf8Kind::complete) return false;
    bytes.remove_prefix(step.n_bytes);
  }
  return true;
}

void append_valid_utf8(std::string& out, std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Step step = next_utf8(bytes);
    out += step.kind == Utf8Kind::complete ? bytes.substr(0, step.n_bytes) : k_replacement_character;
    bytes.remove_prefix(step.n_bytes);
  }
}

}  // namespace ztvm::text
