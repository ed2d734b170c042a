#pragma once
// Reads the ranges of a model's files in a thread of its own, so that disk and conversion work at the same time.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "apps/model_source.hpp"

namespace ztvm::app {

// A range as it was read, or why it could not be.
struct ReadRange {
  Result<bool> found = false;  // false: there is no such file
  std::vector<std::byte> bytes;
  std::uint64_t n_file_bytes = 0;
};

// Nobody else reads from `source` meanwhile.
class ReadAhead {
 public:
  explicit ReadAhead(ModelSource& source) : source_(source), thread_([this] { work(); }) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  // Ranges are read in the order in which they are announced.
  void announce(load::WantedRange range);
  // Announced, and not taken yet.
  std::size_t n_announced() const { return n_announced_; }
  // The oldest announced range; waits for it. Call recycle() with its bytes, once they are used.
  ReadRange take();
  void recycle(std::vector<std::byte> bytes);

 private:
  void work();

  ModelSource& source_;
  std::size_t n_announced_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::deque<load::WantedRange> wanted_;
  std::deque<ReadRange> read_;
  std::vector<std::vector<std::byte>> free_;
  std::thread thread_;
};

}  // namespace ztvm::app
