#include "load/gguf.hpp"

#include <gtest/gtest.h>

#include "gguf_builder.hpp"

namespace ztvm::load {
namespace {

using test::GgufBuilder;

GgufFile parse_whole(std::string_view bytes) {
  auto parsed = parse_gguf(as_bytes(bytes), "x.gguf", bytes.size());
  EXPECT_TRUE(parsed) << parsed.error().text;
  return std::get<GgufFile>(std::move(*parsed));
}

TEST(Gguf, ReadsTensors) {
  GgufBuilder builder;
  builder.tensor({"late", {64, 3}, 8, 192}).tensor({"first", {8}, 0, 0}).tensor({"cube", {32, 2, 2}, 1, 416});
  builder.n_data_bytes = 416 + 256;
  const std::string bytes = builder.file();
  const GgufFile gguf = parse_whole(bytes);
  EXPECT_EQ(gguf.version, 3u);
  EXPECT_EQ(gguf.alignment, 32u);
  ASSERT_EQ(gguf.checkpoint.tensors.size(), 3u);
  EXPECT_EQ(gguf.checkpoint.tensors[0].name, "first");
  const TensorRecord* late = gguf.checkpoint.find("late");
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(late->dtype, Dtype::q8_0);
  EXPECT_EQ(late->shape, (std::vector<std::uint64_t>{3, 64}));
  EXPECT_EQ(late->parts[0].range.offset, bytes.size() - 416 - 256 + 192);
  EXPECT_EQ(late->parts[0].range.n_bytes, 3u * 2 * 34);
  EXPECT_EQ(gguf.checkpoint.find("cube")->shape, (std::vector<std::uint64_t>{2, 2, 32}));
  EXPECT_EQ(gguf.checkpoint.find("cube")->n_rows(), 4u);
  EXPECT_EQ(gguf.checkpoint.find("nothing"), nullptr);
}

TEST(Gguf, RequireComparesShapes) {
  GgufBuilder builder;
  builder.tensor({"a", {8, 2}, 0, 0});
  const GgufFile gguf = parse_whole(builder.file());
  const std::uint64_t right[] = {2, 8};
  const std::uint64_t wrong[] = {8, 2};
  EXPECT_TRUE(gguf.checkpoint.require("a", right));
  const auto other = gguf.checkpoint.require("a", wrong);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text, "Tensor \"a\" has shape [2, 8], expected [8, 2], in x.gguf.");
  const auto none = gguf.checkpoint.require("b", right);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

TEST(Gguf, KeepsAlignmentAndVersion2) {
  GgufBuilder builder;
  builder.version = 2;
  builder.alignment = 128;
  builder.scalar("general.alignment", 4, 128u).tensor({"a", {8}, 0, 0}).tensor({"b", {8}, 0, 128});
  const GgufFile gguf = parse_whole(builder.file());
  EXPECT_EQ(gguf.version, 2u);
  EXPECT_EQ(gguf.alignment, 128u);
  EXPECT_EQ(gguf.checkpoint.tensors[0].parts[0].range.offset % 128, 0u);
}

TEST(Gguf, OffsetsBeyond4GiB) {
  GgufBuilder builder;
  builder.tensor({"far", {1024, 1024}, 0, 5ull << 30});
  const std::string header = builder.file();
  const auto parsed = parse_gguf(as_bytes(header), "x.gguf", 6ull << 30);
  ASSERT_TRUE(parsed) << parsed.error().text;
  const GgufFile& gguf = std::get<GgufFile>(*parsed);
  EXPECT_EQ(gguf.checkpoint.tensors[0].parts[0].range.offset,
            header.size() - builder.n_data_bytes + (5ull << 30));
}

TEST(Gguf, MetadataOfEveryType) {
  GgufBuilder builder;
  builder.scalar<std::uint8_t>("u8", 0, 200)
      .scalar<std::int8_t>("i8", 1, -3)
      .scalar<std::uint16_t>("u16", 2, 60000);
  builder.scalar<std::int16_t>("i16", 3, -300).scalar("u32", 4, 4000000000u).scalar("i32", 5, -70000);
  builder.scalar("f32", 6, 0.5f).scalar<std::uint8_t>("yes", 7, 1).text("text", "hi");
  builder.scalar("u64", 10, 1ull << 40).scalar("i64", 11, -5ll).scalar("f64", 12, 1e-5);
  builder.strings("strings", {"a", "", "c"}).ints("ints", {1, -2});
  std::string nested =
      GgufBuilder::raw(9u) + GgufBuilder::raw(1ull) + GgufBuilder::raw(0u) + GgufBuilder::raw(2ull);
  builder.entry("nested", 9, nested + "xy");
  const GgufMetadata metadata = parse_whole(builder.file()).metadata;

  EXPECT_EQ(metadata.get_uint("u8").value(), 200u);
  EXPECT_EQ(metadata.get_uint("u16").value(), 60000u);
  EXPECT_EQ(metadata.get_uint("u32").value(), 4000000000u);
  EXPECT_EQ(metadata.get_uint("u64").value(), 1ull << 40);
  EXPECT_EQ(metadata.get_float("f32").value(), 0.5);
  EXPECT_EQ(metadata.get_float("f64").value(), 1e-5);
  EXPECT_TRUE(metadata.get_bool("yes").value());
  EXPECT_EQ(metadata.get_string("text").value(), "hi");
  EXPECT_EQ(metadata.get_strings("strings").value(), (std::vector<std::string>{"a", "", "c"}));
  EXPECT_EQ(metadata.get_ints("ints").value(), (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(metadata.entries().size(), 15u);
  EXPECT_EQ(metadata.entries().front().key, "f32");
}

TEST(Gguf, MetadataErrorsNameTheKey) {
  GgufBuilder builder;
  builder.scalar("negative", 5, -7).text("text", "hi").ints("ints", {1}).strings("strings", {"a"});
  const GgufMetadata metadata = parse_whole(builder.file()).metadata;
  EXPECT_EQ(metadata.get_uint("none").error().text, "x.gguf has no metadata key \"none\".");
  EXPECT_EQ(metadata.get_uint("none").error().code, ErrorCode::not_found);
  EXPECT_EQ(metadata.find_uint("none").value(), std::nullopt);
  EXPECT_EQ(metadata.get_uint("negative").error().text,
            "Metadata key \"negative\" in x.gguf has the value -7 (i32), expected an integer that is not "
            "negative.");
  EXPECT_EQ(metadata.get_float("text").error().code, ErrorCode::corrupt_file);
  EXPECT_FALSE(metadata.get_bool("text"));
  EXPECT_FALSE(metadata.get_uint("ints"));
  EXPECT_FALSE(metadata.get_string("ints"));
  EXPECT_FALSE(metadata.get_strings("ints"));
  EXPECT_FALSE(metadata.get_strings("text"));
  EXPECT_FALSE(metadata.get_ints("strings"));
  EXPECT_FALSE(metadata.get_ints("text"));
}

TEST(Gguf, PrefixesAskForMoreUntilTheHeaderIsWhole) {
  GgufBuilder builder;
  builder.text("long", std::string(600000, 'x')).tensor({"a", {8}, 0, 0});
  const std::string bytes = builder.file();
  std::uint64_t n_bytes = 0;
  int n_calls = 0;
  for (;;) {
    ASSERT_LT(++n_calls, 6);
    const auto parsed =
        parse_gguf(as_bytes(std::string_view(bytes).substr(0, n_bytes)), "x.gguf", bytes.size());
    ASSERT_TRUE(parsed) << parsed.error().text;
    if (std::holds_alternative<GgufFile>(*parsed)) break;
    const std::uint64_t wanted = std::get<NeedBytes>(*parsed).n_bytes;
    ASSERT_GT(wanted, n_bytes);
    ASSERT_LE(wanted, bytes.size());
    n_bytes = wanted;
  }
  for (std::size_t n = 0; n < builder.header().size(); n += n < 2000 ? 1 : 997) {
    const auto parsed = parse_gguf(as_bytes(std::string_view(bytes).substr(0, n)), "x.gguf", bytes.size());
    ASSERT_TRUE(parsed) << n << ": " << parsed.error().text;
    ASSERT_TRUE(std::holds_alternative<NeedBytes>(*parsed)) << n;
    ASSERT_GT(std::get<NeedBytes>(*parsed).n_bytes, n);
  }
}

}  // namespace
}  // namespace ztvm::load
