// Every way a GGUF header can be wrong: the error's code, and that its text names the thing.
#include <gtest/gtest.h>

#include <functional>

#include "gguf_builder.hpp"
#include "load/gguf.hpp"

namespace ztvm::load {
namespace {

using test::GgufBuilder;

constexpr std::uint64_t k_huge = 1ull << 63;

GgufBuilder small() {
  GgufBuilder builder;
  builder.text("general.architecture", "llama").scalar<std::uint32_t>("llama.block_count", 4, 2);
  builder.tensor({"a.weight", {32, 2}, 3, 0}).tensor({"b.weight", {8}, 0, 64});
  return builder;
}

Result<GgufProgress> parse(std::string_view file) {
  return parse_gguf(as_bytes(file), "x.gguf", file.size());
}

struct Damage {
  std::string_view what;
  ErrorCode code;
  std::string_view named;  // part of the message
  std::function<std::string()> file;
};

// A file whose builder was changed by `change`.
std::function<std::string()> built(std::function<void(GgufBuilder&)> change) {
  return [change] {
    GgufBuilder builder = small();
    change(builder);
    return builder.file();
  };
}

std::function<std::string()> with_tensor(GgufBuilder::Tensor tensor) {
  return built([tensor](GgufBuilder& b) { b.tensor(tensor); });
}

std::function<std::string()> with_entry(std::uint32_t type, std::string value) {
  return built([type, value](GgufBuilder& b) { b.entry("odd.key", type, value); });
}

// An array (its type and count included) inside `depth` arrays of one element.
std::string nested_array(int depth) {
  std::string bytes;
  for (int i = 0; i < depth; ++i)
    bytes += GgufBuilder::raw<std::uint32_t>(9) + GgufBuilder::raw<std::uint64_t>(1);
  return bytes + GgufBuilder::raw<std::uint32_t>(0) + GgufBuilder::raw<std::uint64_t>(1) + "x";
}

std::string array_head(std::uint32_t type, std::uint64_t count) {
  return GgufBuilder::raw(type) + GgufBuilder::raw(count);
}

const Damage k_damages[] = {
    {"empty", ErrorCode::corrupt_file, "x.gguf is empty", [] { return std::string(); }},
    {"three bytes", ErrorCode::corrupt_file, "ends inside the magic", [] { return std::string("GGU"); }},
    {"other magic", ErrorCode::corrupt_file, "74 6a 67 67", built([](auto& b) { b.magic = 0x67676a74; })},
    {"swapped magic", ErrorCode::unsupported, "big endian", built([](auto& b) { b.magic = 0x47475546; })},
    {"swapped version", ErrorCode::unsupported, "big endian", built([](auto& b) { b.version = 0x03000000; })},
    {"version 1", ErrorCode::unsupported, "version 1", built([](auto& b) { b.version = 1; })},
    {"version 4", ErrorCode::unsupported, "supported are 2 and 3", built([](auto& b) { b.version = 4; })},
    {"git lfs", ErrorCode::corrupt_file, "Git LFS pointer",
     [] { return std::string("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"); }},
    {"html", ErrorCode::corrupt_file, "HTML page",
     [] { return "\xEF\xBB\xBF \n<!DOCTYPE html><html>" + std::string(300, 'x'); }},
    {"zeros", ErrorCode::corrupt_file, "not downloaded completely", [] { return std::string(1000, '\0'); }},

    {"entry count", ErrorCode::corrupt_file, "9223372036854775808 metadata entries",
     built([](auto& b) { b.n_entries = k_huge; })},
    {"many entries", ErrorCode::corrupt_file, "at most 65536", built([](auto& b) {
       b.n_entries = 70000;
       b.n_data_bytes = 2 << 20;
     })},
    {"tensor count", ErrorCode::corrupt_file, "tensors", built([](auto& b) { b.extra_tensors = k_huge; })},
    {"many tensors", ErrorCode::corrupt_file, "at most 65536", built([](auto& b) {
       b.extra_tensors = 70000;
       b.n_data_bytes = 4 << 20;
     })},
    {"key length", ErrorCode::corrupt_file, "metadata entry 2",
     built([](auto& b) { b.entry(std::string(70000, 'k'), 0, "x"); })},
    {"empty key", ErrorCode::corrupt_file, "metadata entry 2", built([](auto& b) { b.entry("", 0, "x"); })},
    {"key twice", ErrorCode::corrupt_file, "\"llama.block_count\" twice",
     built([](auto& b) { b.scalar("llama.block_count", 4, 3u); })},
    {"value type", ErrorCode::corrupt_file, "\"odd.key\"", with_entry(13, "x")},
    {"string length", ErrorCode::corrupt_file, "\"odd.key\"", with_entry(8, GgufBuilder::raw(k_huge))},
    {"string length wraps", ErrorCode::corrupt_file, "\"odd.key\"", with_entry(8, GgufBuilder::raw(~0ull))},
    {"array element type", ErrorCode::corrupt_file, "value type 99", with_entry(9, array_head(99, 1) + "x")},
    {"array count", ErrorCode::corrupt_file, "array elements", with_entry(9, array_head(4, 5000))},
    {"array count wraps", ErrorCode::corrupt_file, "\"odd.key\"", with_entry(9, array_head(10, k_huge))},
    {"string array count", ErrorCode::corrupt_file, "5000 strings", with_entry(9, array_head(8, 5000))},
    {"array array count", ErrorCode::corrupt_file, "5000 arrays", with_entry(9, array_head(9, 5000))},
    {"deep nesting", ErrorCode::corrupt_file, "deeper than 4", with_entry(9, nested_array(5))},
    {"very deep nesting", ErrorCode::corrupt_file, "deeper than 4", with_entry(9, nested_array(100000))},
    {"alignment 0", ErrorCode::corrupt_file, "general.alignment",
     built([](auto& b) { b.scalar("general.alignment", 4, 0u); })},
    {"alignment 24", ErrorCode::corrupt_file, "value 24",
     built([](auto& b) { b.scalar("general.alignment", 4, 24u); })},
    {"alignment 2^40", ErrorCode::corrupt_file, "power of two",
     built([](auto& b) { b.scalar("general.alignment", 10, 1ull << 40); })},
    {"alignment type", ErrorCode::corrupt_file, "\"general.alignment\"",
     built([](auto& b) { b.text("general.alignment", "32"); })},
    {"negative alignment", ErrorCode::corrupt_file, "-32",
     built([](auto& b) { b.scalar("general.alignment", 5, -32); })},

    {"tensor name length", ErrorCode::corrupt_file, "tensor 2",
     with_tensor({std::string(65, 'n'), {8}, 0, 96})},
    {"empty tensor name", ErrorCode::corrupt_file, "tensor 2", with_tensor({"", {8}, 0, 96})},
    {"tensor twice", ErrorCode::corrupt_file, "two tensors named \"a.weight\"",
     with_tensor({"a.weight", {8}, 0, 96})},
    {"no dimensions", ErrorCode::corrupt_file, "\"odd\"", with_tensor({"odd", {}, 0, 96})},
    {"5 dimensions", ErrorCode::corrupt_file, "5 dimensions", with_tensor({"odd", {1, 1, 1, 1, 1}, 0, 96})},
    {"dimension 0", ErrorCode::corrupt_file, "\"odd\"", with_tensor({"odd", {8, 0}, 0, 96})},
    {"broken block", ErrorCode::corrupt_file, "rows of 40 elements", with_tensor({"odd", {40, 2}, 3, 96})},
    {"dims overflow", ErrorCode::corrupt_file, "\"odd\"",
     with_tensor({"odd", {1ull << 32, 1ull << 32, 4}, 0, 96})},
    {"dims wrap to small", ErrorCode::corrupt_file, "\"odd\"", with_tensor({"odd", {1ull << 62, 4}, 0, 96})},
    {"too large", ErrorCode::corrupt_file, "more bytes than", with_tensor({"odd", {1 << 20}, 0, 96})},
    {"Q3_K", ErrorCode::unsupported, "type Q3_K, supported are", with_tensor({"odd", {256, 1}, 11, 96})},
    {"F64 names tensor", ErrorCode::unsupported, "\"odd\"", with_tensor({"odd", {32}, 28, 96})},
    {"unknown type", ErrorCode::corrupt_file, "type number 4,", with_tensor({"odd", {32}, 4, 96})},
    {"huge type", ErrorCode::corrupt_file, "type number 4294967295",
     with_tensor({"odd", {32}, 0xFFFFFFFFu, 96})},
    {"offset not aligned", ErrorCode::corrupt_file, "offset 100", with_tensor({"odd", {8}, 0, 100})},
    {"offset outside", ErrorCode::corrupt_file, "\"odd\"", with_tensor({"odd", {8}, 0, 1 << 20})},
    {"offset wraps", ErrorCode::corrupt_file, "\"odd\"", with_tensor({"odd", {8}, 0, ~0ull - 31})},
    {"end outside", ErrorCode::corrupt_file, "truncated", with_tensor({"odd", {16}, 0, 224})},
    {"overlap", ErrorCode::corrupt_file, "overlap", with_tensor({"odd", {8}, 0, 32})},
    {"same place", ErrorCode::corrupt_file, "overlap", with_tensor({"odd", {8}, 0, 64})},
    {"unprintable name", ErrorCode::corrupt_file, "\\x1b[31m", with_tensor({"\x1b[31m", {8}, 0, 32})},
};

TEST(GgufDamage, TheUndamagedFileIsRight) {
  const auto parsed = parse(small().file());
  ASSERT_TRUE(parsed) << parsed.error().text;
  EXPECT_TRUE(std::holds_alternative<GgufFile>(*parsed));
}

TEST(GgufDamage, EachIsRefusedByName) {
  for (const Damage& damage : k_damages) {
    SCOPED_TRACE(damage.what);
    const auto parsed = parse(damage.file());
    ASSERT_FALSE(parsed);
    EXPECT_EQ(to_string(parsed.error().code), to_string(damage.code)) << parsed.error().text;
    EXPECT_NE(parsed.error().text.find(damage.named), std::string::npos) << parsed.error().text;
    EXPECT_NE(parsed.error().text.find("x.gguf"), std::string::npos) << parsed.error().text;
    EXPECT_TRUE(parsed.error().text.ends_with(".")) << parsed.error().text;
  }
}

TEST(GgufDamage, HeaderLongerThanTheLimitIsRefusedBeforeItIsRead) {
  GgufBuilder builder = small();
  builder.entry("odd.key", 8, GgufBuilder::raw(1ull << 30));
  const auto parsed = parse_gguf(as_bytes(builder.file()), "x.gguf", 1ull << 40);
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().text.find("\"odd.key\""), std::string::npos) << parsed.error().text;
}

TEST(GgufDamage, EveryTruncatedFileIsRefused) {
  const std::string file = small().file();
  const std::size_t needed = small().header().size() / 32 * 32 + 32 + 64 + 32;  // to the end of b.weight
  for (std::size_t n_bytes = 0; n_bytes < needed; ++n_bytes) {
    const auto parsed = parse(std::string_view(file).substr(0, n_bytes));
    ASSERT_FALSE(parsed) << n_bytes;
    EXPECT_EQ(parsed.error().code, ErrorCode::corrupt_file) << n_bytes;
  }
  EXPECT_TRUE(parse(std::string_view(file).substr(0, needed)));
}

TEST(GgufDamage, EveryFlippedByteIsSurvived) {
  const std::string file = small().file();
  for (std::size_t at = 0; at < small().header().size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto parsed = parse(damaged);
      if (!parsed) EXPECT_TRUE(parsed.error().text.ends_with("."));
    }
  }
}

}  // namespace
}  // namespace ztvm::load
