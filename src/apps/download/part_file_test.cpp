#include "apps/download/part_file.hpp"

#include <gtest/gtest.h>

#include "apps/download/durable.hpp"
#include "fetch_fixture.hpp"

namespace ztvm::app {
namespace {

class PartFileTest : public testing::Test {
 protected:
  // A part of 2500 bytes in pieces of 1000, with some of them finished.
  void make(const std::vector<std::size_t>& finished) {
    auto part = PartFile::create(path_, {.n_bytes = 2500, .tag = "\"a\"", .sha256 = ""}, 1000);
    ASSERT_TRUE(part) << part.error().text;
    ASSERT_TRUE(part->write(0, as_bytes(content_)));
    for (const std::size_t piece : finished) ASSERT_TRUE(part->finish_piece(piece));
  }
  std::string journal() const { return test::read_all(path_.string() + ".part.journal"); }
  void write_journal(const std::string& text) const { folder_.write("x.bin.part.journal", text); }
  // "10" for a first piece that is finished and a second that is not; "none" when nothing can be used.
  std::string reopened() const {
    auto part = PartFile::reopen(path_);
    if (!part) return part.error().text;
    if (!*part) return "none";
    std::string text;
    for (std::size_t i = 0; i < (*part)->n_pieces(); ++i) text += (*part)->is_finished(i) ? '1' : '0';
    return text;
  }

  TempFolder folder_{test::fast_folder()};
  std::filesystem::path path_ = folder_.path() / "x.bin";
  const std::string content_ = test::make_content(2500);
};

TEST_F(PartFileTest, DoesNotGoThroughLinks) {
  make({0});
  const std::filesystem::path part = path_.string() + ".part";
  const auto target = folder_.write("target", content_);
  std::filesystem::remove(part);
  std::filesystem::create_symlink(target, part);
  EXPECT_EQ(reopened(), "none");
  auto fresh = PartFile::create(path_, {.n_bytes = 2500}, 1000);
  ASSERT_TRUE(fresh) << fresh.error().text;
  ASSERT_TRUE(fresh->write(0, as_bytes("other")));
  EXPECT_TRUE(test::read_all(target) == content_);
}

TEST_F(PartFileTest, ReplacesAFileWithoutGoingThroughLinks) {
  const auto target = folder_.write("target", "mine");
  std::filesystem::create_symlink(target, path_.string() + ".new");
  ASSERT_TRUE(replace_file(path_, "new"));
  EXPECT_EQ(test::read_all(path_), "new");
  EXPECT_EQ(test::read_all(target), "mine");
}

TEST_F(PartFileTest, LeavesNothingOfAFileThatItCannotReplace) {
  std::filesystem::create_directories(path_ / "in the way");
  EXPECT_FALSE(replace_file(path_, "new"));
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
}

TEST_F(PartFileTest, RemembersFinishedPieces) {
  make({2, 0});
  EXPECT_EQ(journal(), "{\"bytes\":2500,\"piece_bytes\":1000,\"tag\":\"\\\"a\\\"\",\"sha256\":\"\"}\n2\n0\n");
  EXPECT_EQ(reopened(), "101");
  const auto part = PartFile::reopen(path_);
  EXPECT_EQ((*part)->remote().tag, "\"a\"");
  EXPECT_EQ((*part)->piece_end(2), 2500u);
}

TEST_F(PartFileTest, IgnoresATornLine) {
  make({0, 1});
  const std::string whole = journal();
  write_journal(whole + "2");
  EXPECT_EQ(reopened(), "110");
  EXPECT_EQ(journal(), whole);  // what is written next does not join it
  write_journal(whole.substr(0, whole.find('\n')));
  EXPECT_EQ(reopened(), "none");
}

TEST_F(PartFileTest, IgnoresWhatIsNoJournal) {
  make({0});
  const std::string first = journal().substr(0, journal().find('\n') + 1);
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("{}\n"), first + "3\n", first + "-1\n", first + "x\n",
        first + "99999999999999999999\n",
        std::string("{\"bytes\":-1,\"piece_bytes\":1,\"tag\":\"\",\"sha256\":\"\"}\n"),
        std::string("{\"bytes\":9223372036854775807,\"piece_bytes\":1,\"tag\":\"\",\"sha256\":\"\"}\n")}) {
    write_journal(text);
    EXPECT_EQ(reopened(), "none") << text;
  }
  std::filesystem::remove(path_.string() + ".part.journal");
  EXPECT_EQ(reopened(), "none");
}

TEST_F(PartFileTest, NoticesAPartThatIsTooShort) {
  make({0, 2});
  std::filesystem::resize_file(path_.string() + ".part", 2000);
  EXPECT_EQ(reopened(), "none");
}

TEST_F(PartFileTest, KnowsOffsetsBeyondFourGigabytes) {
  constexpr std::uint64_t k_n_bytes = 5'300'000'001;
  {
    auto part = PartFile::create(path_, {.n_bytes = k_n_bytes}, 16 << 20);
    ASSERT_TRUE(part);
    const std::size_t last = part->n_pieces() - 1;
    ASSERT_TRUE(part->write(k_n_bytes - 1, as_bytes(content_).first(1)));
    ASSERT_TRUE(part->finish_piece(last));
  }
  EXPECT_EQ(std::filesystem::file_size(path_.string() + ".part"), k_n_bytes);
  const auto part = PartFile::reopen(path_);
  ASSERT_TRUE(part && *part);
  EXPECT_EQ((*part)->n_pieces(), 316u);
  EXPECT_TRUE((*part)->is_finished(315));
  EXPECT_EQ((*part)->piece_end(315), k_n_bytes);
}

TEST_F(PartFileTest, CommitsOnlyTheFinalName) {
  make({0, 1, 2});
  auto part = PartFile::reopen(path_);
  ASSERT_TRUE(part && *part);
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_TRUE((*part)->commit());
  EXPECT_TRUE(test::read_all(path_) == content_);
  EXPECT_FALSE(PartFile::exists(path_));
  EXPECT_EQ(journal(), "");
}

}  // namespace
}  // namespace ztvm::app
