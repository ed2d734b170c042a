#include "apps/server/static_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/download/repo_files.hpp"
#include "apps/file_source.hpp"
#include "apps/server/bounded_server.hpp"
#include "apps/server/http_file.hpp"
#include "base/json.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_models_url = "/models/";
constexpr std::string_view k_weights_url = "/local-weights/";
constexpr std::string_view k_model_list_url = "/models.json";
constexpr std::string_view k_no_cache = "no-cache";
constexpr std::size_t k_n_threads = 128;
constexpr std::size_t k_piece_bytes = 256 * 1024;  // of a file, read and sent at a time

// Models may come from the hub, which sends to hosts of its own; all else from here. WebAssembly needs a permission.
constexpr const char* k_content_policy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; font-src "
    "'self'; "
    "connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Where it is below /models/.
std::string file_of(const ModelEntry& model) { return model.alias + "/" + model.path.filename().string(); }

// The files directly in a model's folder, by name; without parts and records of downloads.
std::vector<std::pair<std::string, std::uint64_t>> files_in(const fs::path& folder) {
  std::vector<std::pair<std::string, std::uint64_t>> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code vanished;
    if (!is_plain_name(name) || !entry->is_regular_file(vanished)) continue;
    const std::uint64_t n_bytes = entry->file_size(vanished);
    if (!vanished) files.emplace_back(name, n_bytes);
  }
  std::ranges::sort(files);
  return files;
}

// As the page reads it (web/chat/models.ts).
std::string list_as_json(const std::vector<ModelEntry>& models) {
  OrderedJson list = OrderedJson::array();
  for (const ModelEntry& model : models) {
    OrderedJson entry;
    entry["alias"] = model.alias;
    entry["name"] = model.name;
    if (!model.is_folder) entry["file"] = file_of(model);
    entry["bytes"] = model.n_bytes;
    if (model.is_folder) {
      entry["files"] = OrderedJson::array();
      for (const auto& [name, n_bytes] : files_in(model.path)) {
        entry["files"].push_back({{"name", name}, {"bytes", n_bytes}});
      }
    }
    list.push_back(std::move(entry));
  }
  OrderedJson object;
  object["models"] = std::move(list);
  return dump_json(object);
}

// SO_REUSEADDR alone: httplib's default, SO_REUSEPORT, would let a second server take half of the
// connections.
void set_socket_options(int socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

void send_not_found(httplib::Response& response) {
  response.status = 404;
  response.set_content("Not found.\n", "text/plain; charset=utf-8");
}

// Vite names the files in assets/ after their content, so they never change.
std::string_view cache_control_of(std::string_view url) {
  return url.starts_with("/assets/") ? "public, max-age=31536000, immutable" : k_no_cache;
}

}  // namespace

StaticServer::StaticServer(ServerOptions options)
    : options_(std::move(options)),
      model_list_(list_as_json(options_.models)),
      http_(std::make_unique<BoundedServer>(HeadBounds{.elapsed_ms = options_.head_ms})) {
  http_->set_socket_options(set_socket_options);
  http_->set_tcp_nodelay(true);
  http_->set_keep_alive_max_count(1000);
  http_->set_keep_alive_timeout(1);  // in seconds; an idle connection holds a thread, and stop() waits for it
  // An idle connection keeps its thread for a second and one that drips its head for five, and a browser opens six.
  // httplib owns what this returns.
  http_->new_task_queue = [] { return new httplib::ThreadPool(k_n_threads); };
  http_->set_payload_max_length(0);
  http_->set_default_headers({{"Cross-Origin-Opener-Policy", "same-origin"},
                              {"Cross-Origin-Embedder-Policy", "require-corp"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Content-Security-Policy", k_content_policy},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Content-Type-Options", "nosniff"}});
  // Before a body is waited for, which a request without a length may send until it ends the connection.
  http_->set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    using Answer = httplib::Server::HandlerResponse;
    if (is_bodiless(request)) return Answer::Unhandled;
    response.status = 405;
    response.set_header("Allow", "GET, HEAD");
    response.set_content("Only GET and HEAD are answered.\n", "text/plain; charset=utf-8");
    return Answer::Handled;
  });
  http_->Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
    answer(request, response);
  });
}

StaticServer::~StaticServer() = default;

Result<std::unique_ptr<StaticServer>> StaticServer::bind(ServerOptions options) {
  std::unique_ptr<StaticServer> server(new StaticServer(std::move(options)));
  if (auto bound = server->bind_port(); !bound) return forward(bound);
  return server;
}

Result<void> StaticServer::bind_port() {
  errno = 0;
  if (options_.port == 0) {
    options_.port = http_->bind_to_any_port(options_.host);
    if (options_.port > 0) return {};
  } else if (http_->bind_to_port(options_.host, options_.port)) {
    return {};
  }
  // Other values of errno are left over from looking the name up.
  const bool is_from_bind = errno == EADDRINUSE || errno == EADDRNOTAVAIL || errno == EACCES;
  const std::string reason =
      is_from_bind ? std::generic_category().message(errno) : "The address is not known";
  return fail(ErrorCode::io, fmt::format("Cannot listen on {} port {}: {}.", options_.host,
                                         std::max(options_.port, 0), reason));
}

std::string StaticServer::url() const {
  const bool is_ipv6 = options_.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(is_ipv6 ? "http://[{}]:{}" : "http://{}:{}"), options_.host, options_.port);
}

Result<void> StaticServer::run() {
  const bool ended_well = http_->listen_after_bind();
  ended_ = true;
  if (ended_well || stopping_) return {};
  return fail(ErrorCode::io, fmt::format("The server on {} stopped: its socket failed.", url()));
}

void StaticServer::stop() {
  stopping_ = true;
  // httplib ignores a stop() that comes before its loop has begun.
  while (!http_->is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  http_->stop();
}

void StaticServer::answer(const httplib::Request& request, httplib::Response& response) {
  const std::string_view url = request.path;
  if (url == k_model_list_url) {
    response.set_header("Cache-Control", "no-cache");
    response.set_content(model_list_, "application/json");
  } else if (url.starts_with(k_models_url)) {
    answer_model(url.substr(k_models_url.size()), request, response);
  } else if (url.starts_with(k_weights_url)) {
    answer_model(url.substr(k_weights_url.size()), request, response);
  } else {
    const auto file = file_for_url(options_.web_root, url);
    if (!file) return send_not_found(response);
    send_file(*file, cache_control_of(url), request, response);
  }
}

void StaticServer::answer_model(std::string_view name, const httplib::Request& request,
                                httplib::Response& response) {
  const std::size_t slash = std::min(name.find('/'), name.size());
  const auto model =
      std::ranges::find(options_.models, name.substr(0, slash), [](const ModelEntry& m) { return m.alias; });
  if (model == options_.models.end()) return send_not_found(response);
  if (!model->is_folder) {
    if (name != file_of(*model)) return send_not_found(response);
    return send_file(model->path, k_no_cache, request, response);
  }
  const bool is_plain = slash < name.size() && is_plain_name(name.substr(slash + 1));
  const auto file = is_plain ? file_for_url(model->path, name.substr(slash)) : std::nullopt;
  if (!file) return send_not_found(response);
  send_file(*file, k_no_cache, request, response);
}

void StaticServer::send_file(const fs::path& path, std::string_view cache_control,
                             const httplib::Request& request, httplib::Response& response) {
  auto opened = FileSource::open(path);
  if (!opened) return send_not_found(response);
  // Shared, because httplib copies the provider that reads from it.
  const auto file = std::make_shared<const FileSource>(std::move(*opened));
  const std::string tag = fmt::format("\"{:x}-{:x}\"", file->modified_s(), file->n_bytes());
  response.set_header("ETag", tag);
  response.set_header("Cache-Control", std::string(cache_control));
  response.set_header("Accept-Ranges", "bytes");
  if (request.get_header_value("If-None-Match") == tag) {
    response.status = 304;
    return;
  }
  // A part of another version than the one the client has begun is no use to it.
  const bool same_version = !request.has_header("If-Range") || request.get_header_value("If-Range") == tag;
  const BodyRange range =
      body_range(same_version ? request.get_header_value("Range") : std::string(), file->n_bytes());
  // httplib would apply the ranges once more, and unchecked against the file's end.
  const_cast<httplib::Request&>(request).ranges.clear();

  const std::string type(content_type(path));
  if (range.kind == BodyRange::Kind::unsatisfiable) {
    response.status = 416;
    response.set_header("Content-Range", fmt::format("bytes */{}", file->n_bytes()));
    response.set_content("The range lies outside the file.\n", "text/plain; charset=utf-8");
    return;
  }
  response.status = range.kind == BodyRange::Kind::part ? 206 : 200;
  if (range.kind == BodyRange::Kind::part) {
    response.set_header("Content-Range", fmt::format("bytes {}-{}/{}", range.offset,
                                                     range.offset + range.n_bytes - 1, file->n_bytes()));
  }
  if (range.n_bytes == 0) return response.set_content("", type.c_str());
  response.set_content_provider(
      range.n_bytes, type.c_str(),
      [this, file, range](std::size_t offset, std::size_t n_left, httplib::DataSink& sink) {
        std::array<std::byte, k_piece_bytes> piece;
        const std::size_t n_bytes = std::min(n_left, piece.size());
        if (stopping_ || !file->read(range.offset + offset, std::span(piece).first(n_bytes))) return false;
        return sink.write(reinterpret_cast<const char*>(piece.data()), n_bytes);
      });
}

}  // namespace ztvm::app
