#pragma once
// Folders that are wrong in one way each, and the check that each is refused by a sentence that names the thing.
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model_folder.hpp"

namespace ztvm::test {

inline constexpr std::uint64_t k_huge = 1ull << 63;
inline const std::string k_lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
inline const std::string k_html = "<!DOCTYPE html><html><body>404</body></html>";

inline std::string deep(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

// A whole folder of the builder `Folder` (with folder()), with one change to the builder or to the files it made.
template <typename Folder>
std::function<ModelFolder()> damaged(std::function<void(Folder&)> change) {
  return [change] {
    Folder builder;
    change(builder);
    return builder.folder();
  };
}
template <typename Folder>
std::function<ModelFolder()> damaged_files(std::function<void(ModelFolder&)> change) {
  return [change] {
    ModelFolder folder = Folder().folder();
    change(folder);
    return folder;
  };
}

struct Damage {
  std::string_view what;
  ErrorCode code;
  std::vector<std::string_view> named;  // parts of the message
  std::function<ModelFolder()> folder;
};

inline void expect_refused(std::span<const Damage> damages) {
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.what);
    const auto model = read_model(damage.folder());
    ASSERT_FALSE(model);
    EXPECT_EQ(to_string(model.error().code), to_string(damage.code)) << model.error().text;
    for (const std::string_view named : damage.named) {
      EXPECT_NE(model.error().text.find(named), std::string::npos)
          << model.error().text << "\nlacks " << named;
    }
    EXPECT_TRUE(model.error().text.ends_with(".")) << model.error().text;
  }
}

}  // namespace ztvm::test
