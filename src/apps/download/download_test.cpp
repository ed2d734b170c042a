#include "apps/download/download.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "test_hub.hpp"

namespace ztvm::app {
namespace {

using End = DownloadSummary::End;

class DownloadTest : public testing::Test {
 protected:
  Result<DownloadSummary> download(const std::string& file = "") {
    return download_repo({.hub = hub_.url(), .repo = "o/n", .file = file, .folder = folder()}, options_);
  }
  std::string error_of(const Result<DownloadSummary>& result) {
    return result ? std::string("none") : result.error().text;
  }
  std::filesystem::path folder() const { return temp_.path() / "models" / "n"; }
  void expect_same(const std::string& name) const {
    EXPECT_TRUE(test::read_all(folder() / name) == hub_.get(name)) << name;
  }
  std::size_t n_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder()), {}));
  }

  TempFolder temp_{test::fast_folder()};
  test::TestHub hub_;
  test::FetchClock clock_;
  DownloadOptions options_{.fetch = clock_.options()};
};

TEST_F(DownloadTest, FetchesAnMlcRepository) {
  hub_.fill_mlc();
  const auto summary = download();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->end, End::complete);
  EXPECT_EQ(summary->n_files, 5u);
  for (const char* name : {"mlc-chat-config.json", "ndarray-cache.json", "tokenizer.json",
                           "params_shard_0.bin", "params_shard_1.bin"}) {
    expect_same(name);
  }
  EXPECT_EQ(n_files(), 6u);  // and the record
  const auto record = read_record(folder());
  ASSERT_TRUE(record && *record);
  EXPECT_TRUE((*record)->complete);
  EXPECT_EQ((*record)->repo, "o/n");
  EXPECT_EQ((*record)->find("params_shard_1.bin")->sha256,
            sha256_of(as_bytes(hub_.get("params_shard_1.bin"))));
}

TEST_F(DownloadTest, ReadsTheNewNameOfTheManifest) {
  hub_.fill_mlc("tensor-cache.json");
  ASSERT_TRUE(download());
  expect_same("tensor-cache.json");
  expect_same("params_shard_0.bin");
}

TEST_F(DownloadTest, FetchesASafetensorsRepository) {
  hub_.fill_safetensors();
  const auto summary = download();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->n_files, 6u);
  expect_same("model-00002-of-00002.safetensors");
  expect_same("generation_config.json");
}

TEST_F(DownloadTest, FetchesASingleSafetensorsFile) {
  hub_.put("config.json", "{}");
  hub_.put("tokenizer.json", "{}");
  hub_.put("model.safetensors", test::make_content(1500));
  ASSERT_TRUE(download());
  expect_same("model.safetensors");
}

TEST_F(DownloadTest, FetchesOneGguf) {
  hub_.put("m Q4.gguf", "GGUF" + test::make_content(1500));
  const auto summary = download("m Q4.gguf");
  EXPECT_FALSE(summary);  // the URL is encoded, and this hub does not decode
  hub_.put("m%20Q4.gguf", hub_.get("m Q4.gguf"));
  ASSERT_TRUE(download("m Q4.gguf"));
  expect_same("m Q4.gguf");
  EXPECT_EQ(download("m Q4.gguf")->end, End::was_there);
}

TEST_F(DownloadTest, AsksNothingWhenAllIsThere) {
  hub_.fill_mlc();
  ASSERT_TRUE(download());
  const std::size_t n_asks = hub_.asks().size();
  const auto summary = download();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->end, End::was_there);
  EXPECT_EQ(summary->n_files, 5u);
  EXPECT_EQ(hub_.asks().size(), n_asks);
}

TEST_F(DownloadTest, FetchesOnlyWhatIsMissing) {
  hub_.fill_mlc();
  ASSERT_TRUE(download());
  std::filesystem::remove(folder() / "params_shard_1.bin");
  const std::size_t n_before = hub_.n_asks("params_shard_0.bin");
  const auto summary = download();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->end, End::complete);
  expect_same("params_shard_1.bin");
  EXPECT_EQ(hub_.n_asks("params_shard_0.bin"), n_before);
}

TEST_F(DownloadTest, GoesOnAfterAnInterruption) {
  hub_.fill_mlc();
  options_.fetch.n_connections = 1;
  options_.fetch.interrupted = [&] { return hub_.n_asks("params_shard_0.bin") >= 3; };
  const auto first = download();
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(first->end, End::interrupted);
  EXPECT_TRUE(is_incomplete(folder()));
  options_.fetch.interrupted = {};
  const auto second = download();
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_EQ(second->end, End::complete);
  expect_same("params_shard_0.bin");
  EXPECT_EQ(hub_.n_asks("tokenizer.json"), 1u);
  EXPECT_LE(hub_.n_asks("params_shard_0.bin"), 5u);
}

TEST_F(DownloadTest, AnInterruptedGgufIsInTheRecord) {
  hub_.put("m.gguf", "GGUF" + test::make_content(9000));
  options_.fetch.n_connections = 1;
  options_.fetch.interrupted = [&] { return hub_.n_asks("m.gguf") >= 4; };
  const auto first = download("m.gguf");
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(first->end, End::interrupted);
  EXPECT_TRUE(is_incomplete(folder()));
  EXPECT_NE((*read_record(folder()))->find("m.gguf"), nullptr);
  options_.fetch.interrupted = {};
  EXPECT_TRUE(download("m.gguf"));
  expect_same("m.gguf");
}

// The states that a crash can leave between the steps of a commit: record, rename, removal of the journal.
TEST_F(DownloadTest, GoesOnAfterACrashInACommit) {
  hub_.fill_mlc();
  ASSERT_TRUE(download());
  auto record = **read_record(folder());
  record.complete = false;
  ASSERT_TRUE(write_record(folder(), record));
  const auto shard = folder() / "params_shard_0.bin";
  const std::string content = hub_.get("params_shard_0.bin");
  // Recorded, not renamed yet.
  std::filesystem::remove(shard);
  {
    auto part = PartFile::create(shard, {.n_bytes = content.size()}, 4000);
    ASSERT_TRUE(part && part->write(0, as_bytes(content)) && part->finish_piece(0));
  }
  // Renamed, the journal still there; and a record that was not put in place.
  std::ofstream(folder() / "params_shard_1.bin.part.journal") << "{}";
  std::ofstream(folder() / ".zerotvm.json.new") << "{";
  const std::size_t n_asks = hub_.n_asks("params_shard_0.bin");
  const auto summary = download();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->end, End::complete);
  EXPECT_EQ(hub_.n_asks("params_shard_0.bin"), n_asks);
  EXPECT_EQ(hub_.n_asks("params_shard_1.bin"), 1u);
  expect_same("params_shard_0.bin");
  expect_same("params_shard_1.bin");
}

TEST_F(DownloadTest, TakesFilesThatTheManifestConfirms) {
  hub_.fill_mlc();
  std::filesystem::create_directories(folder());
  std::ofstream(folder() / "params_shard_0.bin", std::ios::binary) << hub_.get("params_shard_0.bin");
  ASSERT_TRUE(download());
  EXPECT_EQ(hub_.n_asks("params_shard_0.bin"), 0u);
  expect_same("params_shard_0.bin");
  expect_same("params_shard_1.bin");
}

TEST_F(DownloadTest, SaysWhatARepositoryLacks) {
  EXPECT_NE(error_of(download()).find("o/n has neither mlc-chat-config.json nor config.json"),
            std::string::npos);
  hub_.put("mlc-chat-config.json", "{}");
  EXPECT_NE(error_of(download()).find("tokenizer.json answers with status 404"), std::string::npos);
  hub_.put("tokenizer.json", "{}");
  EXPECT_NE(error_of(download()).find("tensor-cache.json answers with status 404"), std::string::npos);
  hub_.put("ndarray-cache.json", R"({"records":[{"dataPath":"../../x","nbytes":5}]})");
  EXPECT_NE(error_of(download()).find("names the file \"../../x\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "x"));
}

TEST_F(DownloadTest, RefusesAShardOfAnotherLength) {
  hub_.fill_mlc();
  hub_.put("params_shard_1.bin", test::make_content(701));
  EXPECT_NE(error_of(download()).find("params_shard_1.bin has 701 bytes, expected 700."), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder() / "params_shard_1.bin"));
  EXPECT_TRUE(is_incomplete(folder()));
}

TEST_F(DownloadTest, RefusesWhatCannotBeAModelsFile) {
  const auto refused = [&](const std::string& name, const std::string& content) {
    hub_.fill_safetensors();
    hub_.put(name, content);
    std::filesystem::remove_all(folder());
    const std::string error = error_of(download(name.ends_with(".gguf") ? name : ""));
    EXPECT_FALSE(std::filesystem::exists(folder() / name));
    return error.substr(std::min(error.find(name), error.size()));
  };
  EXPECT_EQ(refused("config.json", ""), "config.json has no bytes, expected a file of a model.");
  EXPECT_EQ(refused("tokenizer.json", "{\"a\": "),
            "tokenizer.json (6 bytes) is not valid JSON: it ends too early, at line 1, column 7.");
  EXPECT_EQ(refused("model-00001-of-00002.safetensors", ""),
            "model-00001-of-00002.safetensors has no bytes, expected a file of a model.");
  EXPECT_EQ(refused("model-00001-of-00002.safetensors", "1234567"),
            "model-00001-of-00002.safetensors has 7 bytes, which is too few for a safetensors file.");
  EXPECT_EQ(refused("m.gguf", ""), "m.gguf has no bytes, expected a file of a model.");
  EXPECT_EQ(refused("m.gguf", "1234567"), "m.gguf does not begin with \"GGUF\", so it is no GGUF file.");
}

TEST_F(DownloadTest, LooksAtTheDiskFirst) {
  hub_.fill_mlc();
  options_.free_bytes = [](const std::filesystem::path&) { return 4199; };
  EXPECT_NE(error_of(download()).find("has 4.2 kB left, the download needs 4.2 kB more."), std::string::npos);
  EXPECT_EQ(hub_.n_asks("params_shard_0.bin"), 0u);
  options_.free_bytes = [](const std::filesystem::path&) { return 4200; };
  EXPECT_TRUE(download());
}

TEST_F(DownloadTest, KeepsFoldersOfOtherRepositories) {
  hub_.fill_mlc();
  ASSERT_TRUE(download());
  const auto other = download_repo({.hub = hub_.url(), .repo = "o/other", .folder = folder()}, options_);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().text.find("holds o/n, not o/other; --to names another folder."), std::string::npos);
}

TEST_F(DownloadTest, LeavesAFolderToTheProcessThatHasIt) {
  hub_.fill_mlc();
  std::filesystem::create_directories(folder());
  const int fd = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  EXPECT_NE(error_of(download()).find("Another process is downloading into"), std::string::npos);
  ::close(fd);
  EXPECT_TRUE(download());
}

TEST_F(DownloadTest, TellsProgressOfTheWhole) {
  hub_.fill_mlc();
  FetchProgress last;
  options_.fetch.on_progress = [&](const FetchProgress& progress) {
    EXPECT_LE(progress.n_bytes_done, progress.n_bytes);
    last = progress;
  };
  ASSERT_TRUE(download());
  EXPECT_EQ(last.n_bytes, 4200u);
  EXPECT_EQ(last.n_bytes_done, 4200u);
}

}  // namespace
}  // namespace ztvm::app
