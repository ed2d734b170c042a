#include "apps/server/static_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

// A server on a free loopback port, with a small page and one model of 1 MB.
class StaticServerTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < 1'000'003; ++i) model_bytes_ += static_cast<char>(i * 31 % 251);
    folder_.write("web/index.html", "<!doctype html>");
    folder_.write("web/assets/app-1234.js", "export {};");
    folder_.write("web/engine.wasm", std::string("\0asm", 4));
    folder_.write("web/empty.txt", "");
    folder_.write("web/.env", "SECRET=1");
    folder_.write("models/.part", "x");
    const auto model = folder_.write("models/tiny/Tiny model.gguf", model_bytes_);
    folder_.write("models/mlc/mlc-chat-config.json", "{}");
    folder_.write("models/mlc/params_shard_0.bin", "weights");
    folder_.write("models/mlc/.zerotvm.part", "x");
    folder_.write("models/secret.txt", "x");
    auto server = StaticServer::bind({.port = 0,
                                      .head_ms = 1000,
                                      .web_root = folder_.path() / "web",
                                      .models = {{"tiny", "Tiny model", model, model_bytes_.size()},
                                                 {"mlc", "Folder", folder_.path() / "models/mlc", 9, true}}});
    ASSERT_TRUE(server) << server.error().text;
    server_ = std::move(*server);
    loop_ = std::thread([this] { EXPECT_TRUE(server_->run()); });
    client_ = std::make_unique<httplib::Client>(server_->url());
  }
  void TearDown() override {
    if (server_) server_->stop();
    if (loop_.joinable()) loop_.join();
  }

  httplib::Result get(const std::string& url, const httplib::Headers& headers = {}) {
    return client_->Get(url, headers);
  }

  static constexpr const char* k_model_url = "/models/tiny/Tiny%20model.gguf";
  TempFolder folder_;
  std::string model_bytes_;
  std::unique_ptr<StaticServer> server_;
  std::unique_ptr<httplib::Client> client_;
  std::thread loop_;
};

TEST_F(StaticServerTest, ServesThePageIsolatedAndTyped) {
  const auto page = get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, "<!doctype html>");
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page->get_header_value("Cross-Origin-Opener-Policy"), "same-origin");
  EXPECT_EQ(page->get_header_value("Cross-Origin-Embedder-Policy"), "require-corp");
  EXPECT_NE(page->get_header_value("Content-Security-Policy").find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(get("/engine.wasm")->get_header_value("Content-Type"), "application/wasm");
  EXPECT_EQ(get("/empty.txt")->status, 200);
  const auto asset = get("/assets/app-1234.js");
  EXPECT_NE(asset->get_header_value("Cache-Control").find("immutable"), std::string::npos);
}

TEST_F(StaticServerTest, ListsModels) {
  const auto list = get("/models.json");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(
      list->body,
      R"({"models":[{"alias":"tiny","name":"Tiny model","file":"tiny/Tiny model.gguf","bytes":1000003},)"
      R"({"alias":"mlc","name":"Folder","bytes":9,"files":[{"name":"mlc-chat-config.json","bytes":2},)"
      R"({"name":"params_shard_0.bin","bytes":7}]}]})");
}

TEST_F(StaticServerTest, ServesTheFilesOfAFolderAndNoOthers) {
  const auto part = get("/local-weights/mlc/params_shard_0.bin", {{"Range", "bytes=2-3"}});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, "ig");
  EXPECT_EQ(get("/local-weights/tiny/Tiny%20model.gguf")->status, 200);
  for (const char* url :
       {"/local-weights/mlc/", "/local-weights/mlc", "/local-weights/mlc/none.json",
        "/local-weights/mlc/.zerotvm.part", "/local-weights/mlc/../secret.txt",
        "/local-weights/mlc/%2e%2e/secret.txt", "/local-weights/", "/local-weights/other/a"}) {
    EXPECT_EQ(get(url)->status, 404) << url;
  }
}

TEST_F(StaticServerTest, SendsTheWholeModel) {
  const auto model = get(k_model_url);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->status, 200);
  EXPECT_EQ(model->get_header_value("Content-Type"), "application/octet-stream");
  EXPECT_EQ(model->get_header_value("Accept-Ranges"), "bytes");
  EXPECT_TRUE(model->body == model_bytes_);
}

TEST_F(StaticServerTest, SendsRanges) {
  const auto part = get(k_model_url, {{"Range", "bytes=1000-300999"}});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->get_header_value("Content-Range"), "bytes 1000-300999/1000003");
  EXPECT_TRUE(part->body == model_bytes_.substr(1000, 300000));
  const auto tail = get(k_model_url, {{"Range", "bytes=1000000-9999999"}});
  EXPECT_EQ(tail->status, 206);
  EXPECT_EQ(tail->get_header_value("Content-Range"), "bytes 1000000-1000002/1000003");
  EXPECT_EQ(tail->body, model_bytes_.substr(1000000));
  const auto several = get(k_model_url, {{"Range", "bytes=0-1,5-6"}});
  EXPECT_EQ(several->status, 200);
  EXPECT_EQ(several->body.size(), model_bytes_.size());
}

TEST_F(StaticServerTest, RefusesRangesOutsideTheFile) {
  const auto outside = get(k_model_url, {{"Range", "bytes=1000003-"}});
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->status, 416);
  EXPECT_EQ(outside->get_header_value("Content-Range"), "bytes */1000003");
}

TEST_F(StaticServerTest, AnswersHead) {
  const auto head = client_->Head(k_model_url);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->get_header_value("Content-Length"), "1000003");
  EXPECT_TRUE(head->body.empty());
}

TEST_F(StaticServerTest, KnowsWhatTheClientHas) {
  const std::string tag = get(k_model_url)->get_header_value("ETag");
  ASSERT_FALSE(tag.empty());
  const auto same = get(k_model_url, {{"If-None-Match", tag}});
  EXPECT_EQ(same->status, 304);
  EXPECT_TRUE(same->body.empty());
  EXPECT_EQ(get(k_model_url, {{"Range", "bytes=0-9"}, {"If-Range", tag}})->status, 206);
  EXPECT_EQ(get(k_model_url, {{"Range", "bytes=0-9"}, {"If-Range", "\"old\""}})->status, 200);
}

TEST_F(StaticServerTest, ShowsNothingElse) {
  for (const std::string url : {"/.env", "/../models/.part", "/%2e%2e/models/.part", "/models/.part",
                                "/models/", "/models/tiny/", "/models/tiny/../../web/index.html", "/none",
                                "/assets", "/..%2fmodels%2f.part", "/index.html%00.js"}) {
    const auto answer = get(url);
    ASSERT_TRUE(answer) << url;
    EXPECT_EQ(answer->status, 404) << url;
  }
  EXPECT_GE(client_->Post("/", "x", "text/plain")->status, 400);
}

TEST_F(StaticServerTest, SaysThatAPortIsBusy) {
  const int port = std::stoi(server_->url().substr(server_->url().rfind(':') + 1));
  const auto second = StaticServer::bind({.port = port, .web_root = folder_.path() / "web", .models = {}});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().text.find("in use"), std::string::npos) << second.error().text;
}

TEST_F(StaticServerTest, StopsSoonWhileABrowserIsIdle) {
  client_->set_keep_alive(true);
  ASSERT_TRUE(get("/"));  // and the connection stays open
  const auto begun = std::chrono::steady_clock::now();
  server_->stop();
  loop_.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
}

TEST_F(StaticServerTest, StopsDuringADownload) {
  std::filesystem::resize_file(folder_.path() / "models/tiny/Tiny model.gguf",
                               64 << 20);  // more than sockets buffer
  std::atomic<bool> begun = false;
  std::atomic<bool> stopped = false;
  std::thread download([&] {
    httplib::Client slow(server_->url());
    slow.Get(k_model_url, [&](const char*, std::size_t) {
      begun = true;
      while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return true;
    });
  });
  while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server_->stop();
  stopped = true;
  loop_.join();
  download.join();
}

// A connection that sends what it is told to, and no more.
class RawConnection {
 public:
  explicit RawConnection(const std::string& url) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  ~RawConnection() { ::close(socket_); }

  bool send(std::string_view text) const {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // What comes until the server ends the connection.
  std::string receive_all() const {
    std::string all;
    std::array<char, 4096> bytes;
    for (ssize_t n = 0; (n = ::recv(socket_, bytes.data(), bytes.size(), 0)) > 0;)
      all.append(bytes.data(), static_cast<std::size_t>(n));
    return all;
  }

 private:
  int socket_;
};

TEST_F(StaticServerTest, DrippingConnectionsBlockNobody) {
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server_->url()));
    slow.back()->send("GET / HTTP/1.1\r\nX-Slow: ");
  }
  std::atomic<bool> done = false;
  std::thread dripping([&] {
    while (!done) {
      for (const auto& one : slow) one->send("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  client_->set_read_timeout(3, 0);
  const auto page = get("/");
  EXPECT_TRUE(page && page->status == 200);
  for (const auto& one : slow) one->receive_all();  // each ends, although bytes still come
  done = true;
  dripping.join();
}

TEST_F(StaticServerTest, EndsAHeadThatIsTooLong) {
  for (const std::string line : {"X-Long: ", "X-Many: 1\r\nX-Many: "}) {
    const RawConnection connection(server_->url());
    connection.send("GET / HTTP/1.1\r\n");
    bool is_open = true;
    for (int i = 0; i < 2000 && is_open; ++i) is_open = connection.send(line + std::string(1000, 'x'));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(connection.receive_all().find("200 OK"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(700));  // no limit of time
  }
}

TEST_F(StaticServerTest, WaitsForNoBody) {
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    const RawConnection connection(server_->url());
    const auto begin = std::chrono::steady_clock::now();
    connection.send(method + " /engine.wasm HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string answer = connection.receive_all();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(700)) << method;
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << answer;
    EXPECT_NE(answer.find("Allow: GET, HEAD"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("200 OK"), std::string::npos) << answer;  // a body is no request
  }
}

TEST_F(StaticServerTest, AnswersRequestsThatComeAtOnce) {
  const RawConnection connection(server_->url());
  connection.send("GET /engine.wasm HTTP/1.1\r\nHost: a\r\n\r\nGET /nothing HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string answers = connection.receive_all();
  EXPECT_NE(answers.find("200 OK"), std::string::npos) << answers;
  EXPECT_NE(answers.find("404 Not Found"), std::string::npos) << answers;
}

}  // namespace
}  // namespace ztvm::app
