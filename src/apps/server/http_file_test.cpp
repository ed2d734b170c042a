#include "apps/server/http_file.hpp"

#include <gtest/gtest.h>

#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

using Kind = BodyRange::Kind;

void expect_range(std::string_view header, Kind kind, std::uint64_t offset, std::uint64_t n_bytes) {
  const BodyRange range = body_range(header, 100);
  EXPECT_EQ(range.kind, kind) << header;
  EXPECT_EQ(range.offset, offset) << header;
  EXPECT_EQ(range.n_bytes, n_bytes) << header;
}

TEST(BodyRange, TakesOneRange) {
  expect_range("bytes=0-0", Kind::part, 0, 1);
  expect_range("bytes=10-19", Kind::part, 10, 10);
  expect_range("bytes=90-", Kind::part, 90, 10);
  expect_range("bytes=90-1000", Kind::part, 90, 10);
  expect_range("bytes=-5", Kind::part, 95, 5);
  expect_range("bytes=-1000", Kind::part, 0, 100);
  expect_range("bytes=0-99999999999999999999999", Kind::part, 0, 100);
}

TEST(BodyRange, RefusesWhatIsOutsideTheFile) {
  expect_range("bytes=100-", Kind::unsatisfiable, 0, 0);
  expect_range("bytes=100-200", Kind::unsatisfiable, 0, 0);
  expect_range("bytes=-0", Kind::unsatisfiable, 0, 0);
  expect_range("bytes=99999999999999999999999-", Kind::unsatisfiable, 0, 0);
  EXPECT_EQ(body_range("bytes=0-", 0).kind, Kind::unsatisfiable);
}

TEST(BodyRange, IgnoresWhatItDoesNotServe) {
  for (const std::string_view header :
       {"", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=1-2,4-5", "lines=1-2",
        "bytes=1-2x", "bytes=+1-2", "bytes= 1-2", "bytes=--2"}) {
    expect_range(header, Kind::whole, 0, 100);
  }
}

TEST(FileForUrl, FindsFilesAndIndexes) {
  const TempFolder folder;
  folder.write("index.html", "x");
  folder.write("assets/a.js", "x");
  folder.write("chat/index.html", "x");
  EXPECT_EQ(file_for_url(folder.path(), "/"), folder.path() / "index.html");
  EXPECT_EQ(file_for_url(folder.path(), "/chat/"), folder.path() / "chat/index.html");
  EXPECT_EQ(file_for_url(folder.path(), "/assets/a.js"), folder.path() / "assets/a.js");
}

TEST(FileForUrl, StaysInsideAndShowsNoDotfiles) {
  const TempFolder folder;
  folder.write("secret.txt", "x");
  folder.write("root/a.txt", "x");
  folder.write("root/.env", "x");
  folder.write("root/.git/config", "x");
  const auto root = folder.path() / "root";
  std::filesystem::create_symlink(folder.path() / "secret.txt", root / "link.txt");
  std::filesystem::create_directory_symlink(folder.path(), root / "up");
  std::filesystem::create_symlink(root / "a.txt", root / "inner.txt");
  using namespace std::string_view_literals;
  for (const std::string_view url : {"/../secret.txt"sv, "/./a.txt"sv, "//a.txt"sv, "/a.txt/"sv, "/.env"sv,
                                     "/.git/config"sv, "/link.txt"sv, "/up/secret.txt"sv, "/none"sv,
                                     "a.txt"sv, ""sv, "/a.txt\0"sv, "/..\\secret.txt"sv, "/up"sv}) {
    EXPECT_FALSE(file_for_url(root, url)) << url;
  }
  EXPECT_TRUE(file_for_url(root, "/a.txt"));
  EXPECT_TRUE(file_for_url(root, "/inner.txt"));
}

TEST(ContentType, KnowsWhatBrowsersInsistOn) {
  EXPECT_EQ(content_type("a.wasm"), "application/wasm");
  EXPECT_EQ(content_type("a.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(content_type("a.css"), "text/css; charset=utf-8");
  EXPECT_EQ(content_type("a.html"), "text/html; charset=utf-8");
  EXPECT_EQ(content_type("a.json"), "application/json");
  EXPECT_EQ(content_type("a.gguf"), "application/octet-stream");
  EXPECT_EQ(content_type("a"), "application/octet-stream");
}

}  // namespace
}  // namespace ztvm::app
