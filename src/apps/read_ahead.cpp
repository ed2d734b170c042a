#include "apps/read_ahead.hpp"

#include <utility>

namespace ztvm::app {

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::announce(load::WantedRange range) {
  {
    const std::lock_guard lock(mutex_);
    wanted_.push_back(std::move(range));
  }
  ++n_announced_;
  changed_.notify_all();
}

ReadRange ReadAhead::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !read_.empty(); });
  ReadRange range = std::move(read_.front());
  read_.pop_front();
  --n_announced_;
  return range;
}

void ReadAhead::recycle(std::vector<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(bytes));
}

void ReadAhead::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !wanted_.empty(); });
    if (ends_) return;
    const load::WantedRange range = std::move(wanted_.front());
    wanted_.pop_front();
    ReadRange read;
    if (!free_.empty()) {
      read.bytes = std::move(free_.back());
      free_.pop_back();
    }
    lock.unlock();
    read.found = source_.read(range, read.bytes, read.n_file_bytes);
    lock.lock();
    read_.push_back(std::move(read));
    changed_.notify_all();
  }
}

}  // namespace ztvm::app
