#include "apps/file_source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>

#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

TEST(FileSource, ReadsAnyRange) {
  const TempFolder folder;
  const auto path = folder.write("a.bin", "0123456789");
  auto source = FileSource::open(path);
  ASSERT_TRUE(source) << source.error().text;
  EXPECT_EQ(source->n_bytes(), 10u);
  std::array<char, 4> out = {};
  ASSERT_TRUE(source->read(6, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(std::string_view(out.data(), out.size()), "6789");
}

TEST(FileSource, RefusesRangesOutsideTheFile) {
  const TempFolder folder;
  auto source = FileSource::open(folder.write("a.bin", "0123456789"));
  ASSERT_TRUE(source);
  std::array<std::byte, 4> out = {};
  for (const std::uint64_t offset : {std::uint64_t{7}, std::uint64_t{11}, UINT64_MAX}) {
    auto read = source->read(offset, out);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::io);
  }
}

TEST(FileSource, NoticesAFileThatShrank) {
  const TempFolder folder;
  const auto path = folder.write("a.bin", "0123456789");
  auto source = FileSource::open(path);
  ASSERT_TRUE(source);
  std::filesystem::resize_file(path, 3);
  std::array<std::byte, 4> out = {};
  EXPECT_FALSE(source->read(2, out));
}

TEST(FileSource, SaysWhatIsNoFile) {
  const TempFolder folder;
  auto missing = FileSource::open(folder.path() / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  auto directory = FileSource::open(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().text.find("is a folder"), std::string::npos) << directory.error().text;
  const auto fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  auto pipe = FileSource::open(fifo);
  ASSERT_FALSE(pipe);
  EXPECT_NE(pipe.error().text.find("is a FIFO"), std::string::npos) << pipe.error().text;
}

}  // namespace
}  // namespace ztvm::app
