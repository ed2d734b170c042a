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
    if (std::optional<Error>* kept = captured(); kept != nullptr) {
      if (!*kept) *kept = Error{code, std::string(text)};
      return;
    }
    const std::lock_guard lock(mutex_);
    if (error_ && (error_->code == ErrorCode::device_lost || code != ErrorCode::device_lost)) {
      return;  // the first error explains the others, and the loss of the device all
    }
    error_ = Error{code, std::string(text)};
  }
  // While one lives, what its thread stores in any slot goes to `error` instead, the first of it: the library reports
  // inside the call that fails.
  class Capture {
   public:
    explicit Capture(std::optional<Error>& error) { captured() = &error; }
    ~Capture() { captured() = nullptr; }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
  };
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
  static std::optional<Error>*& captured() {
    thread_local std::optional<Error>* error = nullptr;
    return error;
  }

  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace ztvm::gpu
