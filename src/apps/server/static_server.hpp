#pragma once
// Serves the web page and the model files over HTTP: read only, one range a request, cross-origin isolated.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/model_catalog.hpp"
#include "base/error.hpp"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace ztvm::app {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                 // 0: any free one
  std::uint32_t head_ms = 5000;    // that a request's head may take; then the connection ends
  std::filesystem::path web_root;  // served at /
  std::vector<ModelEntry>
      models;  // served at /local-weights/ALIAS/FILE and /models/ALIAS/FILE, listed in /models.json
};

class StaticServer {
 public:
  // Binds the port, so that requests queue up from here on. Errors: io when the address cannot be bound.
  static Result<std::unique_ptr<StaticServer>> bind(ServerOptions options);
  ~StaticServer();

  std::string url() const;  // "http://127.0.0.1:8080"

  // Answers requests until stop(). Errors: io when the socket fails.
  Result<void> run();
  // Ends run(), downloads that are under way included. From any thread, but not from a signal handler.
  void stop();

 private:
  explicit StaticServer(ServerOptions options);
  Result<void> bind_port();
  void answer(const httplib::Request& request, httplib::Response& response);
  void answer_model(std::string_view name, const httplib::Request& request, httplib::Response& response);
  void send_file(const std::filesystem::path& path, std::string_view cache_control,
                 const httplib::Request& request, httplib::Response& response);

  ServerOptions options_;
  std::string model_list_;  // models.json
  std::unique_ptr<httplib::Server> http_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> ended_ = false;
};

}  // namespace ztvm::app
