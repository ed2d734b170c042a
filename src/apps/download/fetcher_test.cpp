#include "apps/download/fetcher.hpp"

#include <gtest/gtest.h>

#include "apps/download/content_hash.hpp"
#include "fetch_fixture.hpp"

namespace ztvm::app {
namespace {

using test::HttpAsk;
using test::HttpReply;
using test::HttpTestServer;
using test::reply;
using test::reply_range;
using test::reply_whole;

class FetchTest : public testing::Test {
 protected:
  // Fetches "file.bin"; the error's text, or empty.
  std::string fetch(const HttpTestServer& server, WantedFile wanted = {}) {
    if (wanted.name.empty()) wanted.name = "file.bin";
    wanted.url = server.url() + "/" + wanted.name;
    return fetch_all({std::move(wanted)});
  }
  std::string fetch_all(std::vector<WantedFile> wanted) {
    const auto end =
        fetch_files(folder_.path(), std::move(wanted), options_, [this](const FetchedFile& file) {
          whole_.push_back(file);
          return Result<void>();
        });
    if (!end) return end.error().text;
    end_ = *end;
    return "";
  }
  std::filesystem::path path() const { return folder_.path() / "file.bin"; }
  bool exists(const char* name) const { return std::filesystem::exists(folder_.path() / name); }
  // The file is whole and nothing else is left.
  void expect_content(const std::string& content) const {
    EXPECT_TRUE(test::read_all(path()) == content);
    EXPECT_FALSE(exists("file.bin.part"));
    EXPECT_FALSE(exists("file.bin.part.journal"));
  }

  TempFolder folder_{test::fast_folder()};
  test::FetchClock clock_;
  FetchOptions options_ = clock_.options();
  std::vector<FetchedFile> whole_;
  FetchEnd end_ = FetchEnd::complete;
  const std::string content_ = test::make_content(10'500);
};

TEST_F(FetchTest, FetchesEachPieceOnce) {
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content_); });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  auto ranges = server.ranges();
  ASSERT_EQ(ranges.size(), 11u);
  EXPECT_EQ(ranges.front(), "0-999");
  std::ranges::sort(ranges);
  EXPECT_EQ(std::ranges::unique(ranges).size(), 0u);
  ASSERT_EQ(whole_.size(), 1u);
  EXPECT_EQ(whole_[0].n_bytes, 10'500u);
  EXPECT_EQ(whole_[0].sha256, sha256_of(as_bytes(content_)));
  EXPECT_NE(server.asks()[0].text.find("Accept-Encoding: identity"), std::string::npos);
}

TEST_F(FetchTest, UsesSeveralConnections) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that the others queue up behind it
    return reply_range(ask, content_);
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_GE(server.n_most_open(), 2u);
  EXPECT_LE(server.n_most_open(), 6u);  // a connection that has ended may still be counted
}

TEST_F(FetchTest, FetchesSmallAndEmptyFiles) {
  const HttpTestServer server(
      [&](const HttpAsk& ask) { return reply_range(ask, ask.path == "/empty.jinja" ? "" : "{}"); });
  EXPECT_EQ(fetch_all({{.name = "file.bin", .url = server.url() + "/file.bin"},
                       {.name = "empty.jinja", .url = server.url() + "/empty.jinja"}}),
            "");
  expect_content("{}");
  EXPECT_TRUE(exists("empty.jinja"));
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / "empty.jinja"), 0u);
}

TEST_F(FetchTest, TakesTheWholeFileFromAServerWithoutRanges) {
  const HttpTestServer server([&](const HttpAsk&) { return reply_whole(content_); });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_EQ(server.asks().size(), 1u);
}

TEST_F(FetchTest, TakesTheWholeFileWhenRangesStopWorking) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    return ask.number < 3 ? reply_range(ask, content_) : reply_whole(content_);
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
}

TEST_F(FetchTest, TakesABodyWithoutLength) {
  const HttpTestServer server([&](const HttpAsk&) { return reply(200, {}, content_); });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
}

TEST_F(FetchTest, RestartsAWholeBodyThatIsCut) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    HttpReply whole = reply_whole(content_);
    if (ask.number == 0) whole.bytes.resize(whole.bytes.size() - 5000);
    return whole;
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_EQ(server.ranges()[1], "5500-5999");  // the piece that was cut, from where it ended
}

TEST_F(FetchTest, RefusesAWrongContentRange) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    HttpReply wrong = reply_range(ask, content_);
    if (ask.range == "3000-3999") {
      return reply(206, {"Content-Range: bytes 0-999/10500", "Content-Length: 1000", "ETag: \"v1\""},
                   content_.substr(0, 1000));
    }
    return wrong;
  });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("Content-Range \"bytes 0-999/10500\", expected bytes 3000-3999"), std::string::npos)
      << error;
  EXPECT_NE(error.find("4 tries have failed"), std::string::npos) << error;
  EXPECT_FALSE(exists("file.bin"));
}

TEST_F(FetchTest, RefusesContentRangesThatContradictThemselves) {
  for (const std::string header : {"", "Content-Range: bytes 0-999/*", "Content-Range: bytes 0-99999/10500",
                                   "Content-Range: bytes 0-998/10500", "Content-Range: bytes 0-999/500",
                                   "Content-Range: lines 0-999/10500"}) {
    const HttpTestServer server([&](const HttpAsk&) {
      return reply(206, {header.empty() ? "X: y" : header, "Content-Length: 1000"}, content_.substr(0, 1000));
    });
    EXPECT_NE(fetch(server).find("Content-Range"), std::string::npos) << header;
    EXPECT_FALSE(exists("file.bin"));
  }
}

TEST_F(FetchTest, GoesOnAfterOneWrongContentRange) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    if (ask.number == 0) return reply(206, {"Content-Range: bytes 5-999/10500"}, content_.substr(5, 995));
    return reply_range(ask, content_);
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
}

TEST_F(FetchTest, RefusesABodyLongerThanAsked) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    if (ask.range != "2000-2999") return reply_range(ask, content_);
    return reply(206, {"Content-Range: bytes 2000-2999/10500", "ETag: \"v1\""}, content_.substr(2000, 1500));
  });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("sends more bytes than expected"), std::string::npos) << error;
  EXPECT_FALSE(exists("file.bin"));
}

TEST_F(FetchTest, RefusesACompressedBody) {
  const HttpTestServer server([&](const HttpAsk&) {
    return reply(206, {"Content-Range: bytes 0-999/10500", "Content-Encoding: gzip"},
                 content_.substr(0, 1000));
  });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("Content-Encoding \"gzip\", expected the bytes as they are"), std::string::npos)
      << error;
  EXPECT_EQ(server.asks().size(), 1u);
}

TEST_F(FetchTest, ShowsHeadersAsTerminalsCan) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    const std::string evil = "\x1b[2J" + std::string(500, 'z');
    if (ask.path == "/other.bin")
      return reply(206, {"Content-Range: bytes " + evil}, content_.substr(0, 1000));
    return reply(206, {"Content-Range: bytes 0-999/10500", "Content-Encoding: " + evil},
                 content_.substr(0, 1000));
  });
  for (const char* name : {"file.bin", "other.bin"}) {
    const std::string error = fetch(server, {.name = name});
    EXPECT_NE(error.find("\\x1b[2Jzzz"), std::string::npos) << error;
    EXPECT_EQ(error.find('\x1b'), std::string::npos);
    EXPECT_LT(error.size(), 300u);
  }
}

TEST_F(FetchTest, GoesOnWhereABodyWasCut) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    HttpReply part = reply_range(ask, content_);
    if (ask.range == "4000-4999") part.bytes.resize(part.bytes.size() - 600);
    return part;
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_EQ(std::ranges::count(server.ranges(), "4400-4999"), 1);
}

TEST_F(FetchTest, CutsASilentConnection) {
  options_.http.slow_bytes = 1'000'000;
  options_.http.slow_s = 1;
  const HttpTestServer server([&](const HttpAsk& ask) {
    HttpReply part = reply_range(ask, content_);
    if (ask.number == 2) {
      part.bytes.resize(part.bytes.size() - 100);
      part.stalls = true;
    }
    return part;
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_EQ(server.asks().size(), 12u);
}

TEST_F(FetchTest, WaitsLongerAfterEachFailure) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    return ask.number < 3 ? reply(503, {"Content-Length: 4"}, "busy") : reply_range(ask, content_);
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_DOUBLE_EQ(clock_.slept_ms, 500 + 1000 + 2000);
}

TEST_F(FetchTest, WaitsAsLongAsTheServerAsks) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    return ask.number == 0 ? reply(429, {"Retry-After: 7", "Content-Length: 0"}, "")
                           : reply_range(ask, content_);
  });
  std::vector<std::string> notes;
  options_.on_note = [&](const std::string& note) { notes.push_back(note); };
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_DOUBLE_EQ(clock_.slept_ms, 7000);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("answers with status 429; trying again in 7.0 s."), std::string::npos) << notes[0];
}

TEST_F(FetchTest, DoesNotWaitForHours) {
  const HttpTestServer server(
      [&](const HttpAsk&) { return reply(429, {"Retry-After: 7200", "Content-Length: 0"}, ""); });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("asks to come back in 7200 s"), std::string::npos) << error;
  EXPECT_EQ(clock_.slept_ms, 0);
}

TEST_F(FetchTest, GivesUpAfterSomeTries) {
  const HttpTestServer server([&](const HttpAsk&) { return reply(500, {"Content-Length: 0"}, ""); });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("answers with status 500; 4 tries have failed."), std::string::npos) << error;
  EXPECT_EQ(server.asks().size(), 4u);
}

TEST_F(FetchTest, GivesUpWithoutAServer) {
  std::string url;
  {
    const HttpTestServer server([](const HttpAsk&) { return HttpReply{}; });
    url = server.url() + "/file.bin";
  }
  const std::string error = fetch_all({{.name = "file.bin", .url = url}});
  EXPECT_NE(error.find(url), std::string::npos) << error;
  EXPECT_NE(error.find("4 tries have failed"), std::string::npos) << error;
}

TEST_F(FetchTest, FollowsRedirectsToOtherHosts) {
  const HttpTestServer cdn([&](const HttpAsk& ask) { return reply_range(ask, content_); });
  const HttpTestServer hub([&](const HttpAsk&) {
    return reply(302, {"Location: " + cdn.url("localhost") + "/blob?x=1", "Content-Length: 5"}, "moved");
  });
  EXPECT_EQ(fetch(hub), "");
  expect_content(content_);
  EXPECT_EQ(cdn.asks().size(), 11u);
  EXPECT_EQ(cdn.ranges()[0], "0-999");
}

TEST_F(FetchTest, EndsARedirectLoop) {
  const HttpTestServer server(
      [&](const HttpAsk&) { return reply(302, {"Location: /file.bin", "Content-Length: 0"}, ""); });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("redirects"), std::string::npos) << error;
  EXPECT_LE(server.asks().size(), 10u);
}

TEST_F(FetchTest, SaysWhatIsNotThere) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    return reply(ask.path == "/private.bin" ? 401 : 404, {"Content-Length: 9"}, "Not found");
  });
  EXPECT_NE(fetch(server).find("/file.bin answers with status 404: the file does not exist."),
            std::string::npos);
  EXPECT_NE(fetch(server, {.name = "private.bin"}).find("does not exist or needs a login"),
            std::string::npos);
  EXPECT_EQ(fetch(server, {.optional = true}), "");
  EXPECT_TRUE(whole_.empty());
}

TEST_F(FetchTest, RefusesAnotherLengthThanTheManifests) {
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content_); });
  const std::string error = fetch(server, {.n_bytes = 10'501});
  EXPECT_NE(error.find("has 10500 bytes, expected 10501."), std::string::npos) << error;
  EXPECT_NE(fetch(server, {.max_bytes = 10'000}).find("expected at most 10000"), std::string::npos);
}

TEST_F(FetchTest, RefusesLengthsThatNoFileHas) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    if (ask.path != "/file.bin") return reply(200, {"Content-Length: 9223372036854775807"}, content_);
    return reply(206, {"Content-Range: bytes 0-999/18446744073709551615"}, content_.substr(0, 1000));
  });
  EXPECT_NE(fetch(server).find("has 18446744073709551615 bytes, expected at most 1099511627776."),
            std::string::npos);
  EXPECT_NE(fetch(server, {.name = "other.bin"}).find("has 9223372036854775807 bytes"), std::string::npos);
}

}  // namespace
}  // namespace ztvm::app
