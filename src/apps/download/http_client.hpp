#pragma once
// Several HTTP transfers at a time on one thread, through libcurl. It knows nothing of files and pieces.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ztvm::app {

// Bytes first to last, both included, as in a Range header.
struct HttpRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// What an answer says about its body; of several hops, the last one's, but for `linked_tag`.
struct HttpHead {
  int status = 0;
  std::optional<std::uint64_t> n_body_bytes;  // Content-Length
  std::string content_range;
  std::string content_encoding;
  std::string tag;         // ETag, or else Last-Modified
  std::string linked_tag;  // X-Linked-Etag of any hop: the hub's name for the content, without quotes
  std::optional<std::uint64_t> retry_after_s;
};

// The callbacks run inside HttpClient::poll. Only answers 200 and 206 reach them; other bodies are dropped.
struct HttpRequest {
  std::string url;
  std::optional<HttpRange> range;
  std::function<bool(const HttpHead&)> on_head;  // once, before the body; false ends the transfer
  std::function<bool(Bytes)> on_body;            // false ends the transfer
};

struct HttpEnd {
  enum class Kind : std::uint8_t {
    answered,  // the answer came whole, whatever its status
    stopped,   // a callback ended it
    cut,       // the network failed: worth another try
    refused,   // what another try cannot mend: a bad certificate, too many redirects
  };
  Kind kind = Kind::answered;
  HttpHead head;        // status 0: there was no answer
  std::string problem;  // for cut and refused: libcurl's words
};

struct HttpOptions {
  std::uint32_t connect_ms = 20'000;
  // A transfer that brings less than this many bytes a second for that long is cut.
  std::uint32_t slow_bytes = 1000;
  std::uint32_t slow_s = 30;
};

class HttpClient {
 public:
  explicit HttpClient(const HttpOptions& options);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();  // cancels what is under way

  // Starts a transfer; its number is in what poll() tells. http and https only, also behind redirects, and never from
  // https to http.
  std::size_t start(HttpRequest request);
  std::size_t n_active() const { return transfers_.size(); }

  struct Finished {
    std::size_t id = 0;
    HttpEnd end;
  };
  // Moves all transfers on; waits at most `wait_ms` for something to happen.
  std::vector<Finished> poll(int wait_ms);

 private:
  struct Transfer;
  HttpEnd end_of(Transfer& transfer, int code);

  HttpOptions options_;
  void* multi_ = nullptr;  // CURLM
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::size_t next_id_ = 0;
};

}  // namespace ztvm::app
