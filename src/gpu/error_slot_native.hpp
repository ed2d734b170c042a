#pragma once
// Errors that the library reports from inside its calls, on whatever thread they are made, kept until the next poll().
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ztvm::gpu {

class ErrorSlot {
 public:
  void store(ErrorCode code, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (error_ && (error_->code == ErrorCode::device_lost || code != ErrorCode::device_lost)) {
      return;  // the first error explains the others, and the loss of the device all
    }
    error_ = Error{code, std::string(text)};
  }
  std::optional<Error> get() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  bool is_set() const {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    error_.reset();
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace ztvm::gpu
