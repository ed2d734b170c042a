#pragma once
// Records length and sha256 of a model folder's files once the model was loaded well, while it is used.
#include <filesystem>
#include <stop_token>
#include <thread>

namespace ztvm::app {

// Hashes in a thread of low priority: the bytes are read once more, mostly from the page cache, so that loading is not
// slowed. When it ends early, what was hashed is kept, and the next load goes on. Failures are not told: a folder that
// cannot be written to works all the same, and "zerotvm verify" names what is wrong with a file.
class BackgroundRecord {
 public:
  explicit BackgroundRecord(std::filesystem::path folder);
  // Returns once all is recorded.
  void wait() { thread_.join(); }

 private:
  std::jthread thread_;  // told to stop, and waited for, at the end
};

}  // namespace ztvm::app
