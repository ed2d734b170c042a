// The small pure parts: Content-Range, waits, progress text.
#include <gtest/gtest.h>

#include "apps/download/backoff.hpp"
#include "apps/download/content_range.hpp"
#include "apps/download/progress_text.hpp"

namespace ztvm::app {
namespace {

TEST(ContentRange, ReadsOneForm) {
  const auto range = parse_content_range("bytes 10-19/30");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 10u);
  EXPECT_EQ(range->last, 19u);
  EXPECT_EQ(range->n_file_bytes, 30u);
  EXPECT_EQ(parse_content_range("bytes 0-0/18446744073709551615")->n_file_bytes, UINT64_MAX);
}

TEST(ContentRange, RefusesTheRest) {
  for (const char* header :
       {"", "bytes", "bytes 1-2", "bytes 1-2/", "bytes 1-2/*", "bytes */30", "bytes 2-1/30", "bytes 20-30/30",
        "bytes 0-9/30 ", "bytes -1-9/30", "bytes=0-9/30", "octets 0-9/30", "bytes 0-9/18446744073709551616",
        "bytes 0x0-9/30"}) {
    EXPECT_FALSE(parse_content_range(header)) << header;
  }
}

TEST(Backoff, DoublesUpToALimit) {
  const Backoff backoff{.first_ms = 100, .max_ms = 1000};
  EXPECT_DOUBLE_EQ(backoff.wait_ms(1, {}), 100);
  EXPECT_DOUBLE_EQ(backoff.wait_ms(3, {}), 400);
  EXPECT_DOUBLE_EQ(backoff.wait_ms(5, {}), 1000);
  EXPECT_DOUBLE_EQ(backoff.wait_ms(5000, {}), 1000);
}

TEST(Backoff, IsShortenedByChanceButNotBelowWhatIsAsked) {
  const Backoff backoff{.first_ms = 100, .max_ms = 1000, .random = [] { return 0.0; }};
  EXPECT_DOUBLE_EQ(backoff.wait_ms(1, {}), 50);
  EXPECT_DOUBLE_EQ(backoff.wait_ms(1, 3), 3000);
  EXPECT_DOUBLE_EQ(backoff.wait_ms(9, 0), 500);
}

TEST(ProgressText, ShowsABarOnATerminal) {
  ProgressText text(true);
  EXPECT_EQ(text.update({.n_bytes_done = 0, .n_bytes = 2'000'000}, 0),
            "  0 %  [........................]  0 B of 2.0 MB");
  EXPECT_FALSE(text.update({.n_bytes_done = 1000, .n_bytes = 2'000'000}, 50));
  EXPECT_EQ(text.update({.n_bytes_done = 500'000, .n_bytes = 2'000'000}, 1000),
            " 25 %  [######..................]  500.0 kB of 2.0 MB  500.0 kB/s  0:03 left");
}

TEST(ProgressText, WritesALineNowAndThenInALog) {
  ProgressText text(false);
  EXPECT_FALSE(text.update({.n_bytes_done = 0, .n_bytes = 100'000'000}, 0));
  EXPECT_FALSE(text.update({.n_bytes_done = 9'000'000, .n_bytes = 100'000'000}, 9000));
  EXPECT_EQ(text.update({.n_bytes_done = 10'000'000, .n_bytes = 100'000'000}, 10'000),
            " 10 %  10.0 MB of 100.0 MB  1.0 MB/s  1:30 left");
}

TEST(ProgressText, SurvivesAFileThatBeginsAnew) {
  ProgressText text(true);
  text.update({.n_bytes_done = 900, .n_bytes = 1000}, 0);
  EXPECT_EQ(text.update({.n_bytes_done = 0, .n_bytes = 1000}, 2000),
            "  0 %  [........................]  0 B of 1.0 kB");
  EXPECT_EQ(text.update({.n_bytes_done = 2000, .n_bytes = 1000}, 2100)->substr(0, 7), "100 %  ");
}

TEST(ProgressText, FormatsTimes) {
  EXPECT_EQ(format_seconds(6.2), "0:07");
  EXPECT_EQ(format_seconds(754), "12:34");
  EXPECT_EQ(format_seconds(11'100), "3:05:00");
  EXPECT_EQ(format_seconds(-1), "0:00");
}

}  // namespace
}  // namespace ztvm::app
