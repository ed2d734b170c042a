// Ranges come back in order with their bytes, faults as they are, and a reader that is left early ends.
#include "apps/read_ahead.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

constexpr std::size_t k_file_bytes = 5000;

class ReadAheadTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream out(folder_.path() / "a.bin", std::ios::binary);
    for (std::size_t i = 0; i < k_file_bytes; ++i) out.put(static_cast<char>(i % 251));
  }
  ModelSource source() const { return ModelSource::open(folder_.path()).value(); }
  TempFolder folder_;
};

TEST_F(ReadAheadTest, GivesRangesInOrder) {
  ModelSource source = this->source();
  ReadAhead reader(source);
  for (std::uint64_t i = 0; i < 10; ++i)
    reader.announce({.file = "a.bin", .offset = 100 * i, .n_bytes = 50 + i});
  EXPECT_EQ(reader.n_announced(), 10u);
  for (std::uint64_t i = 0; i < 10; ++i) {
    ReadRange range = reader.take();
    ASSERT_TRUE(range.found && *range.found);
    ASSERT_EQ(range.bytes.size(), 50 + i);
    EXPECT_EQ(range.bytes[0], static_cast<std::byte>(100 * i % 251));
    EXPECT_EQ(range.n_file_bytes, k_file_bytes);
    reader.recycle(std::move(range.bytes));
  }
  EXPECT_EQ(reader.n_announced(), 0u);
}

TEST_F(ReadAheadTest, TellsAMissingFileAndARangeBeyondTheEnd) {
  ModelSource source = this->source();
  ReadAhead reader(source);
  reader.announce({.file = "b.bin", .n_bytes = 10});
  reader.announce({.file = "a.bin", .offset = k_file_bytes - 5, .n_bytes = 10});
  reader.announce({.file = "../a.bin", .n_bytes = 10});
  const ReadRange missing = reader.take();
  ASSERT_TRUE(missing.found);
  EXPECT_FALSE(*missing.found);
  EXPECT_EQ(reader.take().bytes.size(), 5u);
  EXPECT_FALSE(reader.take().found);
}

TEST_F(ReadAheadTest, EndsWithRangesThatNobodyTakes) {
  ModelSource source = this->source();
  ReadAhead reader(source);
  for (int i = 0; i < 100; ++i) reader.announce({.file = "a.bin", .n_bytes = k_file_bytes});
}

}  // namespace
}  // namespace ztvm::app
