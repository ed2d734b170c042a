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
