// The system's cache of a file that was just read.
#include "apps/bench/page_cache.hpp"

#include <gtest/gtest.h>

#include "apps/file_source.hpp"

namespace ztvm::app {
namespace {

TEST(PageCache, IsToldForAFileThatWasRead) {
  const std::filesystem::path files[] = {ZTVM_SOURCE_DIR "/tests/golden/phi3/model/tokenizer.json"};
  const auto file = FileSource::open(files[0]);
  ASSERT_TRUE(file);
  std::vector<std::byte> bytes(file->n_bytes());
  ASSERT_TRUE(file->read(0, bytes));
  EXPECT_EQ(cached_share(files).value(), 1.0);
  EXPECT_TRUE(drop_cached(files));  // what is dropped is the system's choice
}

}  // namespace
}  // namespace ztvm::app
