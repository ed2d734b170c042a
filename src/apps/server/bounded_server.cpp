#include "apps/server/bounded_server.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

namespace ztvm::app {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

bool wait_for(socket_t socket, short events, milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    pollfd waiting = {.fd = socket, .events = events, .revents = 0};
    const int n_ready = ::poll(&waiting, 1, static_cast<int>(std::max(left, milliseconds(0)).count()));
    if (n_ready >= 0 || errno != EINTR) return n_ready > 0;
  }
}

void put_address(const sockaddr_storage& address, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    port = ntohs(v6.sin6_port);
  }
  ip = text.data();
}

// A connection. All that this server reads are heads, because it takes no bodies.
class HeadStream : public httplib::Stream {
 public:
  HeadStream(socket_t socket, HeadBounds bounds, milliseconds write_limit)
      : socket_(socket), bounds_(bounds), write_limit_(write_limit) {}

  // Waits for the first byte of the next request; its bounds count from here. False when none comes.
  bool begin_head(milliseconds limit) {
    if (begin_ == end_ && !wait_for(socket_, POLLIN, limit)) return false;
    until_ = Clock::now() + milliseconds(bounds_.elapsed_ms);
    n_bytes_left_ = bounds_.n_bytes;
    return true;
  }

  bool is_readable() const override { return begin_ != end_ || wait_for(socket_, POLLIN, milliseconds(0)); }
  bool is_writable() const override { return wait_for(socket_, POLLOUT, write_limit_); }

  ssize_t read(char* bytes, std::size_t n_bytes) override {
    if (n_bytes_left_ == 0) return -1;
    if (begin_ == end_ && !fill()) return -1;
    const std::size_t n_taken = std::min({n_bytes, end_ - begin_, n_bytes_left_});
    std::memcpy(bytes, buffer_.data() + begin_, n_taken);
    begin_ += n_taken;
    n_bytes_left_ -= n_taken;
    return static_cast<ssize_t>(n_taken);
  }

  ssize_t write(const char* bytes, std::size_t n_bytes) override {
    if (!is_writable()) return -1;
    ssize_t n_sent = 0;
    do {
      n_sent = ::send(socket_, bytes, n_bytes, MSG_NOSIGNAL);
    } while (n_sent < 0 && errno == EINTR);
    return n_sent;
  }

  // Takes what still comes, for a while: a connection that is closed with bytes unread takes its answer back.
  void drain(milliseconds limit) {
    ::shutdown(socket_, SHUT_WR);
    n_bytes_left_ = 0;
    until_ = Clock::now() + limit;
    while (fill()) begin_ = end_;
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage address = {};
    socklen_t n_bytes = sizeof(address);
    if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &n_bytes) == 0)
      put_address(address, ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage address = {};
    socklen_t n_bytes = sizeof(address);
    if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &n_bytes) == 0)
      put_address(address, ip, port);
  }
  socket_t socket() const override { return socket_; }

 private:
  bool fill() {
    const auto left = std::chrono::ceil<milliseconds>(until_ - Clock::now());
    if (left <= milliseconds(0) || !wait_for(socket_, POLLIN, left)) return false;
    ssize_t n_read = 0;
    do {
      n_read = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    } while (n_read < 0 && errno == EINTR);
    if (n_read <= 0) return false;
    begin_ = 0;
    end_ = static_cast<std::size_t>(n_read);
    return true;
  }

  socket_t socket_;
  HeadBounds bounds_;
  milliseconds write_limit_;
  Clock::time_point until_;
  std::size_t n_bytes_left_ = 0;
  std::array<char, 4096> buffer_ = {};
  std::size_t begin_ = 0;  // of what the buffer holds and nobody has read
  std::size_t end_ = 0;
};

}  // namespace

bool is_bodiless(const httplib::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool BoundedServer::process_and_close_socket(socket_t socket) {
  const milliseconds write_limit(1000 * write_timeout_sec_ + write_timeout_usec_ / 1000);
  HeadStream stream(socket, bounds_, write_limit);
  bool is_fine = false;
  bool is_closed = false;
  for (std::size_t n_left = keep_alive_max_count_; n_left > 0 && svr_sock_ != INVALID_SOCKET && !is_closed;
       --n_left) {
    if (!stream.begin_head(std::chrono::seconds(keep_alive_timeout_sec_))) break;
    // What follows a request of another kind is its body, not the next request.
    bool is_last = false;
    is_fine = process_request(stream, n_left == 1, is_closed, [&is_last](httplib::Request& request) {
      is_last = !is_bodiless(request);
      if (is_last) request.set_header("Connection", "close");
    });
    if (is_last) stream.drain(milliseconds(200));
    if (!is_fine || is_last) break;
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return is_fine;
}

}  // namespace ztvm::app
