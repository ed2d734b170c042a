#include "apps/download/fetcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/clock.hpp"
#include "apps/download/http_client.hpp"

namespace ztvm::app {
namespace {

constexpr double k_max_sleep_ms = 100;  // so that Ctrl-C is seen soon

class Fetcher {
 public:
  Fetcher(const std::filesystem::path& folder, std::vector<WantedFile> files, const FetchOptions& options,
          const OnWholeFile& on_whole)
      : options_(options), on_whole_(on_whole), client_(std::make_unique<HttpClient>(options.http)) {
    for (WantedFile& file : files) {
      jobs_.push_back(std::make_unique<Job>(FileFetch(folder, std::move(file), options.piece_bytes)));
    }
  }
  ~Fetcher() {
    client_.reset();  // its callbacks use the flights
    stopping_ = true;
    for (const auto& job : jobs_) job->fetch.drop_single();
  }

  Result<FetchEnd> run() {
    for (const auto& job : jobs_) {
      if (auto begun = job->fetch.begin(); !begun) return forward(begun);
      if (job->fetch.is_whole()) start_hashing(*job);
    }
    while (n_open() > 0) {
      if (options_.interrupted && options_.interrupted()) return FetchEnd::interrupted;
      start_flights();
      if (auto moved = move_on(); !moved) return forward(moved);
      tell_progress();
    }
    return FetchEnd::complete;
  }

 private:
  struct Job {
    explicit Job(FileFetch one) : fetch(std::move(one)) {}
    FileFetch fetch;
    std::uint32_t n_failures = 0;  // in a row
    double not_before_ms = 0;
    bool is_done = false;
    std::uint64_t n_bytes = 0;                  // once it is done
    std::future<Result<ContentHashes>> hashes;  // valid while they are computed
  };
  struct Flight {
    std::size_t id = 0;
    Job* job = nullptr;
    FileFetch::Ask ask;
  };

  std::size_t n_open() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(jobs_, [](const auto& job) { return !job->is_done; }));
  }

  void start_flights() {
    const double now = options_.now_ms();
    for (const auto& job : jobs_) {
      while (flights_.size() < options_.n_connections &&
             now >= std::max(paused_until_ms_, job->not_before_ms)) {
        if (job->is_done || job->hashes.valid()) break;
        auto ask = job->fetch.next_ask();
        if (!ask) break;
        start_flight(*job, std::move(*ask));
      }
    }
  }

  void start_flight(Job& job, FileFetch::Ask ask) {
    flights_.push_back(std::make_unique<Flight>(Flight{.job = &job, .ask = std::move(ask)}));
    Flight* flight = flights_.back().get();
    flight->id = client_->start(
        {.url = job.fetch.wanted().url,
         .range = flight->ask.range,
         .on_head =
             [flight](const HttpHead& head) { return flight->job->fetch.take_head(flight->ask, head); },
         .on_body = [flight](Bytes bytes) { return flight->job->fetch.take_body(flight->ask, bytes); }});
  }

  // Lets time pass: until a transfer moves, hashes are there, or a wait is over.
  Result<void> move_on() {
    Job* hashing = nullptr;
    for (const auto& job : jobs_) {
      if (!job->hashes.valid()) continue;
      hashing = job.get();
      if (job->hashes.wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
      return take_hashes(*job);
    }
    if (client_->n_active() > 0) {
      for (const HttpClient::Finished& finished : client_->poll(hashing != nullptr ? 10 : 100)) {
        if (auto ended = end_flight(finished); !ended) return ended;
      }
    } else if (hashing != nullptr) {
      hashing->hashes.wait_for(std::chrono::milliseconds(20));
    } else {
      double until = options_.now_ms() + k_max_sleep_ms;
      for (const auto& job : jobs_) {
        if (!job->is_done) until = std::min(until, std::max(paused_until_ms_, job->not_before_ms));
      }
      options_.sleep_ms(std::max(until - options_.now_ms(), 0.0));
    }
    return {};
  }

  Result<void> end_flight(const HttpClient::Finished& finished) {
    const auto found = std::ranges::find(flights_, finished.id, [](const auto& one) { return one->id; });
    check(found != flights_.end(), "a transfer ends once");
    const std::unique_ptr<Flight> flight = std::move(*found);
    flights_.erase(found);
    Job& job = *flight->job;
    const bool was_whole = job.fetch.is_whole();
    if (auto taken = take_outcome(job, job.fetch.end_ask(flight->ask, finished.end)); !taken) return taken;
    if (!was_whole && job.fetch.is_whole()) start_hashing(job);
    return {};
  }

  Result<void> take_outcome(Job& job, const FileFetch::Outcome& outcome) {
    using Kind = FileFetch::Outcome::Kind;
    if (outcome.kind == Kind::failed) return std::unexpected(outcome.error);
    if (outcome.kind == Kind::absent) job.is_done = true;
    if (outcome.kind == Kind::here && !job.is_done) return take_file_in_place(job);
    if (outcome.progressed) job.n_failures = 0;
    if (outcome.kind != Kind::retry) return {};
    // One broken line ends several transfers; that is one failure.
    if (job.n_failures > 0 && options_.now_ms() < job.not_before_ms) return {};
    ++job.n_failures;
    const Backoff& backoff = options_.backoff;
    if (job.n_failures >= backoff.n_tries) {
      return fail(ErrorCode::io,
                  fmt::format("{}; {} tries have failed.", outcome.error.text, job.n_failures));
    }
    const double wait_ms = backoff.wait_ms(job.n_failures, outcome.asked_wait_s);
    if (wait_ms > backoff.max_asked_ms) {
      return fail(ErrorCode::io, fmt::format("{} and asks to come back in {:.0f} s; try again then.",
                                             outcome.error.text, wait_ms / 1000));
    }
    job.not_before_ms = options_.now_ms() + wait_ms;
    if (outcome.slow_down) paused_until_ms_ = std::max(paused_until_ms_, job.not_before_ms);
    if (options_.on_note) {
      options_.on_note(fmt::format("{}; trying again in {:.1f} s.", outcome.error.text, wait_ms / 1000));
    }
    return {};
  }

  void start_hashing(Job& job) {
    job.hashes = std::async(std::launch::async, [path = job.fetch.part_path(), this] {
      return hash_file(path, [this](std::uint64_t) { return !stopping_; });
    });
  }

  Result<void> take_hashes(Job& job) {
    auto hashes = job.hashes.get();
    if (!hashes) return forward(hashes);
    const auto outcome = job.fetch.check_hashes(*hashes);
    if (auto taken = take_outcome(job, outcome); !taken) return taken;
    if (outcome.kind != FileFetch::Outcome::Kind::fine) return {};
    const FetchedFile file{job.fetch.wanted().name, hashes->n_bytes, hashes->sha256,
                           job.fetch.has_published_hash()};
    if (auto noted = on_whole_(file); !noted) return noted;
    if (auto committed = job.fetch.commit(); !committed) return committed;
    job.is_done = true;
    job.n_bytes = hashes->n_bytes;
    return {};
  }

  Result<void> take_file_in_place(Job& job) {
    std::error_code error;
    job.n_bytes = std::filesystem::file_size(job.fetch.path(), error);
    job.is_done = true;
    return on_whole_({job.fetch.wanted().name, job.n_bytes, job.fetch.wanted().here_sha256, true});
  }

  void tell_progress() {
    if (!options_.on_progress) return;
    FetchProgress progress{.n_files = jobs_.size()};
    for (const auto& job : jobs_) {
      progress.n_files_done += job->is_done ? 1 : 0;
      progress.n_bytes_done += job->is_done ? job->n_bytes : job->fetch.n_bytes_done();
      progress.n_bytes += job->is_done ? job->n_bytes : job->fetch.n_bytes().value_or(0);
    }
    options_.on_progress(progress);
  }

  const FetchOptions& options_;
  const OnWholeFile& on_whole_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::unique_ptr<HttpClient> client_;
  double paused_until_ms_ = 0;  // of all files: the server has too much to do
};

}  // namespace

FetchOptions real_fetch_options() {
  FetchOptions options;
  options.now_ms = now_ms;
  options.sleep_ms = [](double ms) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
  };
  options.backoff.random = [engine = std::mt19937(std::random_device()())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
  return options;
}

Result<FetchEnd> fetch_files(const std::filesystem::path& folder, std::vector<WantedFile> files,
                             const FetchOptions& options, const OnWholeFile& on_whole) {
  return Fetcher(folder, std::move(files), options, on_whole).run();
}

}  // namespace ztvm::app
