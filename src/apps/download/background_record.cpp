#include "apps/download/background_record.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "apps/download/verify.hpp"

namespace ztvm::app {

BackgroundRecord::BackgroundRecord(std::filesystem::path folder, FileStamps before, Warn warn)
    : folder_(std::move(folder)),
      before_(std::move(before)),
      warn_(std::move(warn)),
      thread_([this](const std::stop_token& stop) { record(stop); }) {}

BackgroundRecord::~BackgroundRecord() {
  thread_.request_stop();
  wait();
}

void BackgroundRecord::record(const std::stop_token& stop) {
  // Of this thread alone: it takes what computing answers leaves.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
  const auto keep_on = [&](std::string_view, std::uint64_t, std::uint64_t) { return !stop.stop_requested(); };
  auto done = record_folder(folder_, keep_on, before_);
  // Other failures are of the folder, and the model works without a record.
  if (!done && done.error().code == ErrorCode::corrupt_file) fault_ = std::move(done.error());
}

void BackgroundRecord::wait() {
  if (thread_.joinable()) thread_.join();
  if (fault_ && warn_) warn_(fault_->text);
  fault_.reset();
}

}  // namespace ztvm::app
