// Downloads that bring bytes again and again, and get nowhere: they must end.
#include <gtest/gtest.h>

#include "apps/download/fetcher.hpp"
#include "fetch_fixture.hpp"

namespace ztvm::app {
namespace {

using test::HttpAsk;
using test::HttpReply;
using test::HttpTestServer;
using test::reply;
using test::reply_range;
using test::reply_whole;

class FetchEndTest : public test::FetchFixture {
 protected:
  // Ends after 60 asks, in case nothing else does.
  std::string fetch(const HttpTestServer& server, WantedFile wanted = {}) {
    options_.interrupted = [&] { return server.asks().size() > 60; };
    return FetchFixture::fetch(server, std::move(wanted));
  }
  static HttpReply cut(HttpReply whole, std::size_t n_bytes) {
    whole.bytes.resize(whole.bytes.size() - n_bytes);
    return whole;
  }

  const std::string content_ = test::make_content(4 << 20);
};

TEST_F(FetchEndTest, TheSameBytesAgainAreNoProgress) {
  const HttpTestServer server([&](const HttpAsk&) { return cut(reply_whole(content_), 2 << 20); });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("tries have failed"), std::string::npos) << error;
  EXPECT_LE(server.asks().size(), 5u);  // the first one got somewhere
}

TEST_F(FetchEndTest, TheSameBytesWithoutALengthAreNoProgress) {
  const HttpTestServer server([&](const HttpAsk&) { return reply(200, {}, content_.substr(0, 2 << 20)); });
  const std::string error = fetch(server, {.n_bytes = content_.size()});
  EXPECT_NE(error.find("has 2097152 bytes, expected 4194304; 4 tries have failed."), std::string::npos)
      << error;
  EXPECT_LE(server.asks().size(), 5u);
}

TEST_F(FetchEndTest, ABodyWithoutAnEndIsAnErrorAtOnce) {
  const HttpTestServer server([&](const HttpAsk&) { return reply(200, {}, content_); });
  const std::string error = fetch(server, {.max_bytes = 3 << 20});
  EXPECT_NE(error.find("sends more bytes than expected, 3145728."), std::string::npos) << error;
  EXPECT_EQ(server.asks().size(), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));  // a part that nothing can go on from is no use
}

TEST_F(FetchEndTest, ABodyLongerThanItsRangeIsAnErrorAtOnce) {
  options_.piece_bytes = 1 << 20;
  options_.n_connections = 1;  // else a second piece may be asked for before the first is too long
  const HttpTestServer server([&](const HttpAsk&) {
    return reply(206, {"Content-Range: bytes 0-1048575/4194304", "ETag: \"v1\""}, content_);
  });
  const std::string error = fetch(server);
  EXPECT_NE(error.find("sends more bytes than expected, 1048576."), std::string::npos) << error;
  EXPECT_EQ(server.asks().size(), 1u);
}

// Each try brings 0.5 MB of new bytes: a bad line, but it gets there.
TEST_F(FetchEndTest, NewBytesAreProgressAlsoInSmallParts) {
  options_.piece_bytes = content_.size();
  options_.n_connections = 1;
  const HttpTestServer server([&](const HttpAsk& ask) {
    HttpReply part = reply_range(ask, content_);
    const std::size_t n_too_many = part.bytes.size() - std::min<std::size_t>(part.bytes.size(), 600'000);
    return cut(std::move(part), n_too_many);
  });
  EXPECT_EQ(fetch(server), "");
  EXPECT_TRUE(test::read_all(path()) == content_);
}

}  // namespace
}  // namespace ztvm::app
