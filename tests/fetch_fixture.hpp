#pragma once
// What tests of downloads share: a clock on which waiting takes no time, small pieces, bytes that are easy to check.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/download/fetcher.hpp"
#include "http_test_server.hpp"
#include "read_file.hpp"
#include "temp_folder.hpp"

namespace ztvm::test {

// Bytes that differ from place to place and with `seed`.
inline std::string make_content(std::size_t n_bytes, std::uint32_t seed = 1) {
  std::string content(n_bytes, '\0');
  std::uint32_t state = seed * 2654435761u + 1;
  for (char& c : content) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(state >> 24);
  }
  return content;
}

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A file system in memory where there is one: downloads flush to disk often, and tests need not wait for that.
inline std::filesystem::path fast_folder() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

// Real time counts nothing; only waits move the clock.
struct FetchClock {
  double now_ms = 0;
  double slept_ms = 0;

  app::FetchOptions options() {
    app::FetchOptions options;
    options.piece_bytes = 1000;
    options.http = {.connect_ms = 5000, .slow_bytes = 1, .slow_s = 20};
    options.backoff = {.n_tries = 4, .first_ms = 500, .max_ms = 30'000, .max_asked_ms = 300'000};
    options.now_ms = [this] { return now_ms; };
    options.sleep_ms = [this](double ms) {
      now_ms += ms;
      slept_ms += ms;
    };
    return options;
  }
};

// Tests of one file, "file.bin", in a folder of its own.
class FetchFixture : public testing::Test {
 protected:
  // Fetches it; the error's text, "interrupted", or empty.
  std::string fetch(const HttpTestServer& server, app::WantedFile wanted = {}) {
    wanted.name = "file.bin";
    wanted.url = server.url() + "/file.bin";
    const auto end = app::fetch_files(folder_.path(), {std::move(wanted)}, options_,
                                      [](const app::FetchedFile&) { return Result<void>(); });
    if (!end) return end.error().text;
    return *end == app::FetchEnd::interrupted ? "interrupted" : "";
  }
  std::filesystem::path path() const { return folder_.path() / "file.bin"; }

  TempFolder folder_{fast_folder()};
  FetchClock clock_;
  app::FetchOptions options_ = clock_.options();
};

}  // namespace ztvm::test
