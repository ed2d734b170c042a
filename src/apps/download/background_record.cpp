#include "apps/download/background_record.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "apps/download/verify.hpp"

namespace ztvm::app {
namespace {

void record(const std::stop_token& stop, const std::filesystem::path& folder) {
  // Of this thread alone: it takes what computing answers leaves.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
  const auto keep_on = [&](std::string_view, std::uint64_t, std::uint64_t) { return !stop.stop_requested(); };
  // Every failure is one of the folder, and the model works without a record.
  (void)record_folder(folder, keep_on);
}

}  // namespace

BackgroundRecord::BackgroundRecord(std::filesystem::path folder)
    : thread_([folder = std::move(folder)](const std::stop_token& stop) { record(stop, folder); }) {}

}  // namespace ztvm::app
