// The one tensor that is read together with a GGUF's header.
#include <gtest/gtest.h>

#include <cstring>

#include "gguf_builder.hpp"
#include "load/checkpoint_reader.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint32_t k_f16 = 1;

// The reader's end over a file whose tensor has these values.
Result<ModelFiles> read(std::uint32_t type, const std::vector<float>& values, std::size_t n_missing = 0) {
  test::GgufBuilder builder;
  builder.text("general.architecture", "llama");
  builder.tensor({.name = "rope_freqs.weight", .dims = {values.size()}, .type = type});
  builder.n_data_bytes = 4 * values.size();
  std::string file = builder.file();
  std::memcpy(file.data() + file.size() - 4 * values.size(), values.data(), 4 * values.size());
  CheckpointReader reader = CheckpointReader::for_gguf("x.gguf");
  bool is_header = true;
  while (const auto range = reader.wanted()) {
    const std::uint64_t end = std::min<std::uint64_t>(file.size(), range->offset + range->n_bytes);
    const std::size_t n_lost = is_header ? 0 : n_missing;
    const auto bytes = as_bytes(file).subspan(range->offset, end - range->offset - n_lost);
    if (auto supplied = reader.supply(bytes, file.size()); !supplied) return forward(supplied);
    is_header = false;
  }
  return reader.take();
}

TEST(RopeFactors, AreReadWithTheHeader) {
  const auto files = read(0, {1.0f, 2.5f, 8.0f});
  ASSERT_TRUE(files) << files.error().text;
  EXPECT_EQ(files->rope_factors, (std::vector<float>{1.0f, 2.5f, 8.0f}));
}

TEST(RopeFactors, OfOtherTypesOrLengthsAreLeft) {
  EXPECT_TRUE(read(k_f16, {1.0f, 1.0f})->rope_factors.empty());
  EXPECT_TRUE(read(0, std::vector<float>(2000, 1.0f))->rope_factors.empty());
}

TEST(RopeFactors, AShortAnswerIsRefused) {
  const auto files = read(0, {1.0f, 1.0f}, 4);
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().text.find("x.gguf gives 4 bytes at offset "), std::string::npos)
      << files.error().text;
}

}  // namespace
}  // namespace ztvm::load
