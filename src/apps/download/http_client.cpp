#include "apps/download/http_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace ztvm::app {

struct HttpClient::Transfer {
  std::size_t id = 0;
  HttpRequest request;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_text = {};
  HttpHead head;
  bool head_told = false;
  bool stopped = false;         // by a callback
  std::uint64_t n_dropped = 0;  // bytes of a body nobody wants

  ~Transfer() {
    ::curl_easy_cleanup(easy);
    ::curl_slist_free_all(headers);
  }
};

namespace {

constexpr std::uint64_t k_max_dropped_bytes = 1
                                              << 20;  // of an error page; beyond, the connection is given up
constexpr long k_max_redirects = 8;

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::strchr(" \t\r\n", text.front()) != nullptr) text.remove_prefix(1);
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.remove_suffix(1);
  return text;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
}

std::string without_quotes(std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
  return std::string(tag);
}

// One line of the answer's head. A status line begins a new answer, as behind each redirect.
void take_header(HttpHead& head, std::string_view line) {
  if (line.starts_with("HTTP/")) {
    head = {.linked_tag = std::move(head.linked_tag)};
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = trim(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (same_name(name, "content-length")) {
    std::uint64_t n_bytes = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n_bytes);
    if (error == std::errc() && end == value.data() + value.size()) head.n_body_bytes = n_bytes;
  } else if (same_name(name, "content-range")) {
    head.content_range = value;
  } else if (same_name(name, "content-encoding")) {
    head.content_encoding = value;
  } else if (same_name(name, "etag")) {
    head.tag = value;
  } else if (same_name(name, "last-modified")) {
    if (head.tag.empty()) head.tag = value;
  } else if (same_name(name, "x-linked-etag")) {
    head.linked_tag = without_quotes(value);
  }
}

bool is_wanted(const HttpHead& head) { return head.status == 200 || head.status == 206; }

void read_status(CURL* easy, HttpHead& head) {
  long status = 0;
  ::curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  head.status = static_cast<int>(status);
  curl_off_t seconds = 0;  // libcurl also reads the form with a date
  ::curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > 0) head.retry_after_s = static_cast<std::uint64_t>(seconds);
}

// Tells the head once. False when the transfer shall end.
template <typename T>
bool tell_head(T& transfer) {
  if (!transfer.head_told) {
    transfer.head_told = true;
    read_status(transfer.easy, transfer.head);
    if (is_wanted(transfer.head)) transfer.stopped = !transfer.request.on_head(transfer.head);
  }
  return !transfer.stopped;
}

template <typename T>
std::size_t on_header(char* data, std::size_t, std::size_t n_bytes, void* user) {
  take_header(static_cast<T*>(user)->head, {data, n_bytes});
  return n_bytes;
}

template <typename T>
std::size_t on_data(char* data, std::size_t, std::size_t n_bytes, void* user) {
  T& transfer = *static_cast<T*>(user);
  if (!tell_head(transfer)) return CURL_WRITEFUNC_ERROR;
  if (!is_wanted(transfer.head)) {
    transfer.n_dropped += n_bytes;
    return transfer.n_dropped > k_max_dropped_bytes ? CURL_WRITEFUNC_ERROR : n_bytes;
  }
  transfer.stopped = !transfer.request.on_body(std::as_bytes(std::span(data, n_bytes)));
  return transfer.stopped ? CURL_WRITEFUNC_ERROR : n_bytes;
}

// What no further try can mend.
bool is_final(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_OUT_OF_MEMORY: return true;
    default: return false;
  }
}

}  // namespace

HttpClient::HttpClient(const HttpOptions& options) : options_(options) {
  static const CURLcode k_started = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  check(k_started == CURLE_OK, "libcurl starts");
  multi_ = ::curl_multi_init();
  check(multi_ != nullptr, "libcurl has memory");
}

HttpClient::~HttpClient() {
  for (const auto& transfer : transfers_) ::curl_multi_remove_handle(multi_, transfer->easy);
  transfers_.clear();
  ::curl_multi_cleanup(multi_);
}

std::size_t HttpClient::start(HttpRequest request) {
  auto transfer = std::make_unique<Transfer>();
  transfer->id = next_id_++;
  transfer->request = std::move(request);
  CURL* easy = transfer->easy = ::curl_easy_init();
  check(easy != nullptr, "libcurl has memory");
  const HttpRequest& wanted = transfer->request;
  const bool is_https = wanted.url.starts_with("https:");
  // Compressed bodies have no byte ranges of the file.
  transfer->headers = ::curl_slist_append(nullptr, "Accept-Encoding: identity");
  ::curl_easy_setopt(easy, CURLOPT_URL, wanted.url.c_str());
  ::curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
  ::curl_easy_setopt(easy, CURLOPT_USERAGENT, "zerotvm");
  ::curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, is_https ? "https" : "http,https");
  ::curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  ::curl_easy_setopt(easy, CURLOPT_MAXREDIRS, k_max_redirects);
  // HTTP/2 would put all transfers on one connection, and so under one congestion window.
  ::curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  ::curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_ms));
  ::curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(options_.slow_bytes));
  ::curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.slow_s));
  ::curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error_text.data());
  ::curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer.get());
  ::curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header<Transfer>);
  ::curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer.get());
  ::curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data<Transfer>);
  ::curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer.get());
  if (wanted.range) {
    const std::string range = fmt::format("{}-{}", wanted.range->first, wanted.range->last);
    ::curl_easy_setopt(easy, CURLOPT_RANGE, range.c_str());  // libcurl keeps a copy
  }
  check(::curl_multi_add_handle(multi_, easy) == CURLM_OK, "libcurl takes a transfer");
  transfers_.push_back(std::move(transfer));
  return transfers_.back()->id;
}

HttpEnd HttpClient::end_of(Transfer& transfer, int curl_code) {
  const auto code = static_cast<CURLcode>(curl_code);
  read_status(transfer.easy, transfer.head);
  if (code == CURLE_OK) tell_head(transfer);  // of a body without bytes
  HttpEnd end{.head = transfer.head};
  const bool dropped = !is_wanted(transfer.head) && code == CURLE_WRITE_ERROR;
  if (transfer.stopped) {
    end.kind = HttpEnd::Kind::stopped;
  } else if (code != CURLE_OK && !dropped) {
    end.kind = is_final(code) ? HttpEnd::Kind::refused : HttpEnd::Kind::cut;
    end.problem = transfer.error_text[0] != '\0' ? transfer.error_text.data() : ::curl_easy_strerror(code);
    // It may hold the address of a redirect.
    for (char& c : end.problem) c = c >= ' ' && c <= '~' ? c : '?';
  }
  return end;
}

std::vector<HttpClient::Finished> HttpClient::poll(int wait_ms) {
  int n_running = 0;
  ::curl_multi_perform(multi_, &n_running);
  if (static_cast<std::size_t>(n_running) == transfers_.size()) {
    ::curl_multi_poll(multi_, nullptr, 0, wait_ms, nullptr);
    ::curl_multi_perform(multi_, &n_running);
  }
  std::vector<Finished> finished;
  int n_left = 0;
  while (const CURLMsg* message = ::curl_multi_info_read(multi_, &n_left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const int code = message->data.result;
    const auto found = std::ranges::find_if(transfers_, [&](const auto& one) { return one->easy == easy; });
    check(found != transfers_.end(), "libcurl tells of transfers that were started");
    finished.push_back({(*found)->id, end_of(**found, code)});
    ::curl_multi_remove_handle(multi_, easy);
    transfers_.erase(found);
  }
  return finished;
}

}  // namespace ztvm::app
