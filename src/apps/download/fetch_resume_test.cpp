// What a download leaves behind when it ends early, and what the next one makes of it.
#include <gtest/gtest.h>

#include "apps/download/content_hash.hpp"
#include "apps/download/fetcher.hpp"
#include "fetch_fixture.hpp"

namespace ztvm::app {
namespace {

using test::HttpAsk;
using test::HttpReply;
using test::HttpTestServer;
using test::reply;
using test::reply_range;

class FetchResumeTest : public test::FetchFixture {
 protected:
  // Ends after some pieces, as a user would with Ctrl-C.
  void fetch_some(const std::string& content, std::size_t n_asks, const std::string& tag = "\"v1\"") {
    const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content, tag); });
    options_.n_connections = 1;
    options_.interrupted = [&] { return server.asks().size() > n_asks; };
    EXPECT_EQ(fetch(server), "interrupted");
    options_.interrupted = {};
    EXPECT_TRUE(std::filesystem::exists(path().string() + ".part"));
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
  void expect_content(const std::string& content) const {
    EXPECT_TRUE(test::read_all(path()) == content);
    EXPECT_FALSE(std::filesystem::exists(path().string() + ".part"));
    EXPECT_FALSE(std::filesystem::exists(path().string() + ".part.journal"));
  }

  const std::string content_ = test::make_content(10'500);
  const std::string other_ = test::make_content(10'500, 2);
};

TEST_F(FetchResumeTest, AsksOnlyForWhatIsMissing) {
  fetch_some(content_, 5);
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content_); });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_LE(server.asks().size(), 7u);
  EXPECT_EQ(std::ranges::count(server.ranges(), "0-999"), 0);
}

// Pieces of two runs, which nothing tells apart: of servers without ETag and Last-Modified.
TEST_F(FetchResumeTest, BeginsAnewWithoutAVersion) {
  {
    auto part = PartFile::create(path(), {.n_bytes = content_.size()}, 1000);
    ASSERT_TRUE(part && part->write(0, as_bytes(content_)) && part->finish_piece(0) && part->finish_piece(5));
  }
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, other_, ""); });
  EXPECT_EQ(fetch(server), "");
  expect_content(other_);
}

TEST_F(FetchResumeTest, WithoutAVersionOneAnswerBringsAll) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    if (ask.number != 1) return reply_range(ask, ask.number == 0 ? content_ : other_, "");
    HttpReply cut = test::reply_whole(content_, "");
    cut.bytes.resize(cut.bytes.size() - 3000);
    return cut;
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(other_);
  EXPECT_EQ(server.ranges(), std::vector<std::string>({"0-999", "", ""}));
}

TEST_F(FetchResumeTest, WithoutAVersionNothingIsKeptForTheNextRun) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    HttpReply reply = reply_range(ask, content_, "");
    if (!ask.range.empty()) return reply;
    reply.bytes.resize(reply.bytes.size() - 3000);
    reply.stalls = true;
    return reply;
  });
  options_.interrupted = [&] {
    return server.asks().size() > 1 && std::filesystem::exists(path().string() + ".part");
  };
  EXPECT_EQ(fetch(server), "interrupted");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FetchResumeTest, AHashStandsInForAVersion) {
  const auto good = folder_.write("good", content_);
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content_, ""); });
  EXPECT_EQ(fetch(server, {.md5 = hash_file(good, {})->md5}), "");
  expect_content(content_);
  EXPECT_EQ(server.asks().size(), 11u);
}

TEST_F(FetchResumeTest, BeginsAnewWhenTheVersionIsLost) {
  fetch_some(content_, 5);
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, other_, ""); });
  EXPECT_EQ(fetch(server), "");
  expect_content(other_);
}

TEST_F(FetchResumeTest, KeepsThePieceLengthOfThePart) {
  fetch_some(content_, 5);
  options_.piece_bytes = 777;
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content_); });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
}

TEST_F(FetchResumeTest, BeginsAnewWhenTheFileChanged) {
  fetch_some(content_, 5);
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, other_, "\"v2\""); });
  EXPECT_EQ(fetch(server), "");
  expect_content(other_);
  EXPECT_EQ(std::ranges::count(server.ranges(), "0-999"), 1);
}

TEST_F(FetchResumeTest, BeginsAnewWhenTheFileShrank) {
  fetch_some(content_, 9);
  const std::string shorter = content_.substr(0, 2500);
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, shorter); });  // 416 first
  EXPECT_EQ(fetch(server), "");
  expect_content(shorter);
}

TEST_F(FetchResumeTest, BeginsAnewWhenTheFileChangesUnderWay) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    return ask.number < 4 ? reply_range(ask, content_) : reply_range(ask, other_, "\"v2\"");
  });
  EXPECT_EQ(fetch(server), "");
  expect_content(other_);
}

TEST_F(FetchResumeTest, GivesUpOnAFileThatKeepsChanging) {
  const HttpTestServer server([&](const HttpAsk& ask) {
    return reply_range(ask, content_, "\"v" + std::to_string(ask.number) + "\"");
  });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("changed while it was downloaded"), std::string::npos) << error;
}

TEST_F(FetchResumeTest, TakesTheWholeFileWhenTheServerForgotRanges) {
  fetch_some(content_, 5);
  const HttpTestServer server([&](const HttpAsk&) { return test::reply_whole(content_); });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
}

TEST_F(FetchResumeTest, DropsAPartOfAnotherLengthThanTheManifests) {
  fetch_some(content_, 5);
  const std::string longer = test::make_content(11'000, 3);
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, longer); });
  EXPECT_EQ(fetch(server, {.n_bytes = longer.size()}), "");
  expect_content(longer);
}

TEST_F(FetchResumeTest, FinishesAWholePartWithoutAServer) {
  const PartFile part = [&] {
    auto made = PartFile::create(path(), {.n_bytes = content_.size(), .tag = "\"v1\""}, 6000);
    EXPECT_TRUE(made && made->write(0, as_bytes(content_)) && made->finish_piece(0) && made->finish_piece(1));
    return std::move(*made);
  }();
  const HttpTestServer server([&](const HttpAsk&) { return reply(500, {}, ""); });
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
  EXPECT_TRUE(server.asks().empty());
}

TEST_F(FetchResumeTest, FetchesAgainWhenTheMd5IsWrong) {
  std::string damaged = content_;
  damaged[5000] = static_cast<char>(damaged[5000] ^ 1);
  const HttpTestServer server(
      [&](const HttpAsk& ask) { return reply_range(ask, ask.number < 11 ? damaged : content_); });
  const auto good = folder_.write("good", content_);
  const std::string md5 = hash_file(good, {})->md5;
  EXPECT_EQ(fetch(server, {.md5 = md5}), "");
  expect_content(content_);
  EXPECT_EQ(server.asks().size(), 22u);
}

TEST_F(FetchResumeTest, RefusesAFileWithAWrongMd5) {
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content_); });
  const std::string error = fetch(server, {.md5 = std::string(32, '0')});
  EXPECT_NE(error.find("expected 00000000000000000000000000000000, each time"), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(FetchResumeTest, ChecksTheHashThatTheHubTells) {
  std::string told = sha256_of(as_bytes(other_));
  const HttpTestServer server([&](const HttpAsk& ask) {
    HttpReply range = reply_range(ask, content_);
    range.bytes.insert(range.bytes.find("ETag"), "X-Linked-Etag: \"" + told + "\"\r\n");
    return range;
  });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("expected " + told), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(path()));
  told = sha256_of(as_bytes(content_));
  EXPECT_EQ(fetch(server), "");
  expect_content(content_);
}

TEST_F(FetchResumeTest, RefusesAPageInPlaceOfWeights) {
  const HttpTestServer server(
      [&](const HttpAsk&) { return test::reply_whole("<!DOCTYPE html><p>Sign in."); });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("is an HTML page"), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(FetchResumeTest, SaysWhenTheDiskRefuses) {
  std::filesystem::create_directory(path().string() + ".part");
  std::filesystem::create_directory(path().string() + ".part/full");
  const HttpTestServer server([&](const HttpAsk& ask) { return reply_range(ask, content_); });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("Cannot open \"" + path().string() + ".part\""), std::string::npos) << error;
}

}  // namespace
}  // namespace ztvm::app
