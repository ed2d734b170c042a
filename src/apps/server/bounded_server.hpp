#pragma once
// httplib's server with bounds on the head of a request, which httplib reads for as long and as much as a client sends: one
// that drips bytes would keep its thread for ever.
#include <httplib.h>

#include <cstddef>
#include <cstdint>

namespace ztvm::app {

struct HeadBounds {
  std::uint32_t elapsed_ms = 5000;  // from its first byte to its last
  std::size_t n_bytes = 16 * 1024;  // request line and all headers
};

// GET and HEAD; this server waits for the body of no other.
bool is_bodiless(const httplib::Request& request);

class BoundedServer : public httplib::Server {
 public:
  explicit BoundedServer(HeadBounds bounds) : bounds_(bounds) {}

 private:
  // Answers the requests of a connection, one after another. A head beyond the bounds ends it.
  bool process_and_close_socket(socket_t socket) override;

  HeadBounds bounds_;
};

}  // namespace ztvm::app
