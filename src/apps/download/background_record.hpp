#pragma once
// Records length and sha256 of a model folder's files once the model was loaded well, while it is used.
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "apps/download/file_stamps.hpp"
#include "base/error.hpp"

namespace ztvm::app {

// Hashes in a thread of low priority: the bytes are read once more, mostly from the page cache, so that loading is not
// slowed. When it ends early, what was hashed is kept, and the next load goes on. A folder that cannot be written to
// works all the same, silently; a file that contradicts the manifest or the record, or has changed since `before`, is not
// recorded, and told.
class BackgroundRecord {
 public:
  using Warn = std::function<void(const std::string& sentence)>;

  // `before`: what the files were before the load. `warn`, if any, is called once at most, by wait() or at the end.
  BackgroundRecord(std::filesystem::path folder, FileStamps before, Warn warn);
  BackgroundRecord(const BackgroundRecord&) = delete;
  BackgroundRecord& operator=(const BackgroundRecord&) = delete;
  ~BackgroundRecord();  // stops the work and waits for it

  // Returns once all is recorded.
  void wait();

 private:
  void record(const std::stop_token& stop);

  std::filesystem::path folder_;
  FileStamps before_;
  Warn warn_;
  std::optional<Error> fault_;  // the thread's until it has ended
  std::jthread thread_;
};

}  // namespace ztvm::app
