#include "apps/cli/terminal_text.hpp"

#include <gtest/gtest.h>

#include "apps/download/repo_files.hpp"

namespace ztvm::app {
namespace {

TEST(TerminalText, ShowsCodesInSentences) {
  EXPECT_EQ(with_codes_shown("Cannot open \"a\x1b]0;x\x07\"."), "Cannot open \"a\\x1b]0;x\\x07\".");
  EXPECT_EQ(with_codes_shown("a\xc2\x9b"
                             "31m\x7f\r"),
            "a\\xc2\\x9b31m\\x7f\\x0d");
  EXPECT_EQ(with_codes_shown("gp\xe2\x80\xaetxt"), "gp\\xe2\\x80\\xaetxt");
  EXPECT_EQ(with_codes_shown("a\x9b"
                             "31m\xff"),
            "a\\x9b31m\\xff");  // bytes that are no UTF-8
  EXPECT_EQ(with_codes_shown("\xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\x98\x80 \xc3\xa9\n\tx"),
            "\xe6\xa8\xa1\xe5\x9e\x8b \xf0\x9f\x98\x80 \xc3\xa9\n\tx");
  EXPECT_EQ(with_codes_shown("\xe2\x80"), "\\xe2\\x80");
}

TEST(TerminalText, LeavesCodesOutOfAnswers) {
  EXPECT_EQ(without_codes("a\x1b[2Jb\r\n\tc\xc2\x85"
                          "d\x08"),
            "a[2Jb\n\tcd");
  EXPECT_EQ(without_codes("\xe2\x81\xa7\xd7\x90\xe2\x81\xa9 \xe6\xa8\xa1"),
            "\xe2\x81\xa7\xd7\x90\xe2\x81\xa9 \xe6\xa8\xa1");
}

TEST(TerminalText, PlainNamesHaveNoDirectionMarks) {
  EXPECT_FALSE(
      is_plain_name("a\xe2\x80\xae"
                    "fugg.exe"));
  EXPECT_FALSE(
      is_plain_name("a\xe2\x81\xa6"
                    "b"));
  EXPECT_TRUE(
      is_plain_name("a\xe2\x80\x93"
                    "b"));
}

}  // namespace
}  // namespace ztvm::app
