// Downloads into folders that hold files which no record names as the repository's.
#include <gtest/gtest.h>

#include "apps/download/download.hpp"
#include "apps/download/verify.hpp"
#include "test_hub.hpp"

namespace ztvm::app {
namespace {

class ForeignFilesTest : public testing::Test {
 protected:
  Result<DownloadSummary> download(const std::string& file = "") {
    return download_repo({.hub = hub_.url(), .repo = "o/n", .file = file, .folder = folder()}, options_);
  }
  void put(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(folder());
    std::ofstream(folder() / name, std::ios::binary) << content;
  }
  void put_all() const {
    for (const char* name :
         {"config.json", "tokenizer.json", "generation_config.json", "model.safetensors.index.json",
          "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}) {
      put(name, hub_.get(name));
    }
  }
  std::string read(const std::string& name) const { return test::read_all(folder() / name); }
  bool has_record() const { return std::filesystem::exists(record_path(folder())); }
  // The download is refused, and the sentence names the file.
  void expect_refused(const std::string& name, const std::string& file = "") {
    const auto summary = download(file);
    ASSERT_FALSE(summary);
    EXPECT_EQ(summary.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(summary.error().text.find(name), std::string::npos) << summary.error().text;
    EXPECT_NE(summary.error().text.find("name another folder with --to."), std::string::npos)
        << summary.error().text;
  }
  std::filesystem::path folder() const { return temp_.path() / "n"; }

  TempFolder temp_{test::fast_folder()};
  test::TestHub hub_;
  test::FetchClock clock_;
  DownloadOptions options_{.fetch = clock_.options()};
};

TEST_F(ForeignFilesTest, KeepsAnotherModelsFiles) {
  hub_.fill_safetensors();
  put("config.json", "{\"model_type\":\"mine\"}");
  put("model.safetensors", "mine");
  expect_refused("config.json");
  EXPECT_EQ(read("config.json"), "{\"model_type\":\"mine\"}");
  EXPECT_FALSE(has_record());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 2);
}

TEST_F(ForeignFilesTest, KeepsFilesThatTheRepositoryLacks) {
  hub_.fill_mlc();
  put("config.json", "{}");
  expect_refused("config.json");
  EXPECT_FALSE(has_record());
}

TEST_F(ForeignFilesTest, KeepsWeightsOfOtherContents) {
  hub_.fill_mlc();
  put("params_shard_1.bin", std::string(700, 'x'));
  expect_refused("params_shard_1.bin");
  expect_refused("params_shard_1.bin");  // also when the folder is recorded as this repository's
  EXPECT_EQ(read("params_shard_1.bin"), std::string(700, 'x'));
  put("params_shard_1.bin", "short");
  expect_refused("params_shard_1.bin");
}

TEST_F(ForeignFilesTest, KeepsOtherGgufs) {
  hub_.put("m.gguf", "GGUF" + test::make_content(1500));
  put("other.gguf", "GGUF");
  expect_refused("other.gguf", "m.gguf");
  expect_refused("other.gguf");
  EXPECT_FALSE(has_record());
  std::filesystem::remove(folder() / "other.gguf");
  put("m.gguf", "GGUF of mine");
  expect_refused("m.gguf", "m.gguf");
  EXPECT_EQ(read("m.gguf"), "GGUF of mine");
}

TEST_F(ForeignFilesTest, TakesWhatTheHubConfirms) {
  hub_.fill_safetensors();
  put_all();
  std::filesystem::remove(folder() / "model-00002-of-00002.safetensors");
  const auto summary = download();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->end, DownloadSummary::End::complete);
  EXPECT_TRUE(verify_folder(folder(), {})->faults.empty());
}

TEST_F(ForeignFilesTest, ARecordWithoutARepositoryProvesNothing) {
  hub_.fill_safetensors();
  put_all();
  ASSERT_TRUE(record_folder(folder(), {}));
  const auto summary = download();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->end, DownloadSummary::End::complete);
  EXPECT_EQ((*read_record(folder()))->repo, "o/n");
  put_all();
  std::filesystem::remove(record_path(folder()));
  put("config.json", "{}");
  ASSERT_TRUE(record_folder(folder(), {}));
  expect_refused("config.json");
  EXPECT_EQ((*read_record(folder()))->repo, "");
  EXPECT_TRUE((*read_record(folder()))->complete);
}

TEST_F(ForeignFilesTest, ADeadHubChangesNothing) {
  put("config.json", "{}");
  put("model.safetensors", "mine");
  options_.fetch.backoff.n_tries = 1;
  for (const char* file : {"", "m.gguf"}) {
    EXPECT_FALSE(download_repo({.hub = "http://127.0.0.1:9", .repo = "o/n", .file = file, .folder = folder()},
                               options_));
    EXPECT_FALSE(has_record());
    EXPECT_FALSE(is_incomplete(folder()));
  }
}

}  // namespace
}  // namespace ztvm::app
