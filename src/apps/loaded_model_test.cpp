// What a load leaves in the folder of its model, and what it tells.
#include "apps/loaded_model.hpp"

#include <gtest/gtest.h>

#include "apps/download/folder_record.hpp"
#include "read_file.hpp"
#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

class LoadedModelTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(ZTVM_SOURCE_DIR "/tests/golden/qwen3/model", folder(), fs::copy_options::recursive);
    fs::remove(record_path(folder()));  // of somebody who ran the model where it is
    fs::permissions(folder(), fs::perms::owner_all);
    for (const auto& entry : fs::directory_iterator(folder())) {
      fs::permissions(entry.path(), fs::perms::owner_read | fs::perms::owner_write);
    }
  }
  Result<LoadedModel> load() {
    return load_model({.model = folder().string(),
                       .backend = engine::Backend::reference,
                       .warn = [this](const std::string& sentence) { warnings_.push_back(sentence); }},
                      [](std::uint64_t, std::uint64_t) {});
  }
  fs::path folder() const { return temp_.path() / "m"; }

  TempFolder temp_;
  std::vector<std::string> warnings_;
};

TEST_F(LoadedModelTest, AGoodLoadIsRecorded) {
  {
    const auto model = load();
    ASSERT_TRUE(model) << model.error().text;
    model->record->wait();
  }
  const auto record = read_record(folder());
  ASSERT_TRUE(record && *record);
  EXPECT_TRUE((*record)->complete);
  EXPECT_TRUE((*record)->find("params_shard_3.bin")->published);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(LoadedModelTest, AFileThatTheManifestContradictsIsTold) {
  std::string manifest = test::read_source_file("tests/golden/qwen3/model/ndarray-cache.json");
  const std::size_t at = manifest.find("3244311e3c0f401b6eae1f56c782d998");
  ASSERT_NE(at, std::string::npos);
  manifest[at] = '0';
  temp_.write("m/ndarray-cache.json", manifest);
  {
    const auto model = load();
    ASSERT_TRUE(model) << model.error().text;
    model->record->wait();
  }
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("It has md5 3244311e3c0f401b6eae1f56c782d998, expected 0"), std::string::npos)
      << warnings_[0];
  EXPECT_FALSE((*read_record(folder()))->complete);
}

TEST_F(LoadedModelTest, ALoadThatFailsRecordsNothing) {
  fs::resize_file(folder() / "params_shard_3.bin", 100);
  EXPECT_FALSE(load());
  EXPECT_FALSE(fs::exists(record_path(folder())));
  EXPECT_TRUE(warnings_.empty());
}

}  // namespace
}  // namespace ztvm::app
