#include "apps/tuning_store.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

const engine::TuningKey k_key = {
    .adapter = "NVIDIA H200 (x)", .driver = "1.0", .compiler = "naga", .kernels = "gpu f16 subgroups"};

gpu::Tuning measured(const std::string& shape) {
  return {{shape, {.form = "b", .own = "a", .times = {{"a", 2.0}, {"b", 1.0}}, .wrong = {}}}};
}

class TuningStore : public testing::Test {
 protected:
  void SetUp() override { setenv("ZEROTVM_CACHE", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("ZEROTVM_CACHE"); }
  TempFolder folder_;
};

TEST_F(TuningStore, KeepsAFileForEachAdapterAndSet) {
  EXPECT_TRUE(load_tuning(k_key).empty());
  ASSERT_TRUE(save_tuning(k_key, measured("qkv")));
  EXPECT_EQ(tuning_file(k_key).filename(), "nvidia-h200-x-gpu-f16-subgroups.json");
  EXPECT_EQ(load_tuning(k_key), measured("qkv"));
  engine::TuningKey other = k_key;
  other.kernels = "gpu f32";
  EXPECT_TRUE(load_tuning(other).empty());
}

TEST_F(TuningStore, AddsToWhatIsKept) {
  ASSERT_TRUE(save_tuning(k_key, measured("qkv")));
  ASSERT_TRUE(save_tuning(k_key, measured("down")));
  EXPECT_EQ(load_tuning(k_key).size(), 2u);
  // A new driver begins anew.
  engine::TuningKey newer = k_key;
  newer.driver = "2.0";
  ASSERT_TRUE(save_tuning(newer, measured("down")));
  EXPECT_EQ(load_tuning(newer).size(), 1u);
  EXPECT_TRUE(load_tuning(k_key).empty());
}

TEST_F(TuningStore, DamageIsMeasuredAnew) {
  ASSERT_TRUE(save_tuning(k_key, measured("qkv")));
  std::ofstream(tuning_file(k_key)) << "{";
  EXPECT_TRUE(load_tuning(k_key).empty());
  ASSERT_TRUE(save_tuning(k_key, measured("down")));
  EXPECT_EQ(load_tuning(k_key), measured("down"));
}

TEST_F(TuningStore, SaysWhereNothingCanBeKept) {
  folder_.write("tuning", "in the way");
  const auto saved = save_tuning(k_key, measured("qkv"));
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().text.find("nvidia-h200"), std::string::npos) << saved.error().text;
}

}  // namespace
}  // namespace ztvm::app
