#pragma once
// An HTTP server on a free loopback port that answers with whatever bytes a test gives it, wrong ones included.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace ztvm::test {

struct HttpAsk {
  std::string path;        // "/file.bin"
  std::string range;       // "0-99" of "Range: bytes=0-99"; empty: none
  std::string text;        // the whole head
  std::size_t number = 0;  // in order of arrival, from 0
};

struct HttpReply {
  std::string bytes;    // status line, headers and body, as they go out
  bool stalls = false;  // the connection then stays open, and silent, until the server ends
};

using HttpHandler = std::function<HttpReply(const HttpAsk&)>;

// "HTTP/1.1 206 X\r\n" with the headers, each without its end, and the body.
inline HttpReply reply(int status, const std::vector<std::string>& headers, std::string_view body) {
  std::string bytes = fmt::format("HTTP/1.1 {} Status\r\nConnection: close\r\n", status);
  for (const std::string& header : headers) bytes += header + "\r\n";
  return {.bytes = bytes + "\r\n" + std::string(body)};
}

inline HttpReply reply_whole(std::string_view content, const std::string& tag = "\"v1\"") {
  return reply(200, {fmt::format("Content-Length: {}", content.size()), "ETag: " + tag}, content);
}

// First and last byte that the ask wants of a file with `n_bytes`.
inline std::optional<std::pair<std::size_t, std::size_t>> range_of(const HttpAsk& ask, std::size_t n_bytes) {
  const std::size_t dash = ask.range.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const std::size_t first = std::stoull(ask.range);
  if (first >= n_bytes) return std::nullopt;
  return std::pair(first, std::min<std::size_t>(std::stoull(ask.range.substr(dash + 1)), n_bytes - 1));
}

// What a well-behaved server sends.
inline HttpReply reply_range(const HttpAsk& ask, std::string_view content,
                             const std::string& tag = "\"v1\"") {
  if (ask.range.empty()) return reply_whole(content, tag);
  const auto range = range_of(ask, content.size());
  if (!range)
    return reply(416, {fmt::format("Content-Range: bytes */{}", content.size()), "Content-Length: 0"}, "");
  const auto [first, last] = *range;
  return reply(206,
               {fmt::format("Content-Range: bytes {}-{}/{}", first, last, content.size()),
                fmt::format("Content-Length: {}", last - first + 1), "ETag: " + tag},
               content.substr(first, last - first + 1));
}

class HttpTestServer {
 public:
  // The handler runs on the connections' threads, one call at a time.
  explicit HttpTestServer(HttpHandler handler) : handler_(std::move(handler)) {
    ::setenv("no_proxy", "127.0.0.1,localhost", 1);  // where the machine has a proxy
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(listener_, 64);
    socklen_t n_bytes = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &n_bytes);
    port_ = ::ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  HttpTestServer(const HttpTestServer&) = delete;
  HttpTestServer& operator=(const HttpTestServer&) = delete;
  ~HttpTestServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }

  int port() const { return port_; }
  std::string url(const std::string& host = "127.0.0.1") const {
    return fmt::format("http://{}:{}", host, port_);
  }

  std::vector<HttpAsk> asks() const {
    const std::lock_guard lock(mutex_);
    return asks_;
  }
  std::vector<std::string> ranges() const {
    std::vector<std::string> ranges;
    for (const HttpAsk& ask : asks()) ranges.push_back(ask.range);
    return ranges;
  }
  // The largest number of connections that were open at a time.
  std::size_t n_most_open() const {
    const std::lock_guard lock(mutex_);
    return n_most_open_;
  }

 private:
  void accept_all() {
    while (true) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      n_most_open_ = std::max(n_most_open_, open_.size());
      threads_.emplace_back([this, fd] { answer(fd); });
    }
  }

  void answer(int fd) {
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n") && ::recv(fd, &byte, 1, 0) == 1) head += byte;
    if (head.ends_with("\r\n\r\n")) {
      const HttpReply answer = handle(std::move(head));
      std::string_view rest = answer.bytes;
      while (!rest.empty()) {
        const ssize_t n_sent = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n_sent <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(n_sent));
      }
      if (answer.stalls) ::recv(fd, &byte, 1, 0);  // until one side ends it
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
  }

  HttpReply handle(std::string head) {
    HttpAsk ask{.path = head.substr(4, head.find(' ', 4) - 4)};
    const std::string name = "\r\nRange: bytes=";
    if (const std::size_t at = head.find(name); at != std::string::npos) {
      const std::size_t begin = at + name.size();
      ask.range = head.substr(begin, head.find("\r\n", begin) - begin);
    }
    ask.text = std::move(head);
    {
      const std::lock_guard lock(mutex_);
      ask.number = asks_.size();
      asks_.push_back(ask);
    }
    const std::lock_guard lock(handler_mutex_);
    return handler_(ask);
  }

  HttpHandler handler_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::mutex handler_mutex_;
  std::vector<HttpAsk> asks_;
  std::vector<int> open_;
  std::size_t n_most_open_ = 0;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace ztvm::test
