// Records that say too little or the wrong thing, and loads that find a file other than it should be.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/download/background_record.hpp"
#include "apps/download/download.hpp"
#include "apps/download/verify.hpp"
#include "test_hub.hpp"

namespace ztvm::app {
namespace {

class RecordFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    hub_.fill_mlc();
    ASSERT_TRUE(download());
  }
  Result<DownloadSummary> download() {
    return download_repo({.hub = hub_.url(), .repo = "o/n", .folder = folder()}, options_);
  }
  std::vector<std::string> faults() const {
    std::vector<std::string> texts;
    const auto report = verify_folder(folder(), {});
    if (!report) return {report.error().text};
    for (const FileFault& fault : report->faults) texts.push_back(fault.name + ": " + fault.why);
    return texts;
  }
  std::string repair(const std::vector<std::string>& names) {
    const auto summary = repair_folder(folder(), names, "", options_);
    return summary ? "" : summary.error().text;
  }
  void change_record(const std::function<void(FolderRecord&)>& change) const {
    FolderRecord record = **read_record(folder());
    change(record);
    ASSERT_TRUE(write_record(folder(), record));
  }
  // What a record with this text is refused for.
  std::string refused(const std::string& text) const {
    temp_.write("n/.zerotvm.json", text);
    const auto record = read_record(folder());
    return record ? std::string("none") : record.error().text;
  }
  void overwrite(const std::string& name, const std::string& content) const {
    temp_.write("n/" + name, content);
  }
  std::filesystem::path folder() const { return temp_.path() / "n"; }
  std::string path_of(const std::string& name) const { return "\"" + (folder() / name).string() + "\""; }

  TempFolder temp_{test::fast_folder()};
  test::TestHub hub_;
  test::FetchClock clock_;
  DownloadOptions options_{.fetch = clock_.options()};
  std::vector<std::string> warnings_;
  const BackgroundRecord::Warn warn_ = [this](const std::string& sentence) { warnings_.push_back(sentence); };
};

TEST_F(RecordFaultsTest, ARecordWithoutAHubCannotRepair) {
  change_record([](FolderRecord& record) { record.hub.clear(); });
  EXPECT_EQ(repair({"tokenizer.json"}),
            path_of(".zerotvm.json") +
                " has an empty field \"hub\", expected http://HOST or https://HOST; --mirror can name one.");
}

TEST_F(RecordFaultsTest, AShardThatIsNoFileIsToldAsWhatItIs) {
  std::filesystem::remove(folder() / "params_shard_1.bin");
  ASSERT_EQ(::mkfifo((folder() / "params_shard_1.bin").c_str(), 0600), 0);
  EXPECT_EQ(faults(), (std::vector<std::string>{"params_shard_1.bin: " + path_of("params_shard_1.bin") +
                                                " is a FIFO, expected a file."}));
}

// As another user, since root may write anywhere.
TEST_F(RecordFaultsTest, AFolderThatCannotBeWrittenToIsToldBeforeTheNetwork) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::filesystem::remove(folder() / "tokenizer.json");
  std::filesystem::permissions(temp_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder(), std::filesystem::perms(0755));
  const std::size_t n_asks = hub_.asks().size();
  ASSERT_EQ(::seteuid(65534), 0);
  const auto again = download();
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().text, "Cannot write into folder \"" + folder().string() + "\": Permission denied.");
  EXPECT_EQ(hub_.asks().size(), n_asks);
}

TEST_F(RecordFaultsTest, ARecordThatNamesNothingIsNoProof) {
  change_record([](FolderRecord& record) { record.files.clear(); });
  EXPECT_EQ(faults().size(), 5u);
  EXPECT_EQ(faults()[0], "mlc-chat-config.json: The record (.zerotvm.json) does not name it.");
  EXPECT_EQ(repair({"tokenizer.json", "params_shard_0.bin"}), "");
  EXPECT_EQ(faults(), std::vector<std::string>());
}

TEST_F(RecordFaultsTest, NamesWhatTheRecordLacks) {
  change_record([](FolderRecord& record) {
    std::erase_if(record.files, [](const RecordedFile& file) { return file.name.starts_with("params"); });
  });
  std::filesystem::remove(folder() / "params_shard_1.bin");
  EXPECT_EQ(faults(), (std::vector<std::string>{
                          "params_shard_0.bin: The record (.zerotvm.json) does not name it.",
                          "params_shard_1.bin: It is missing, and the record does not name it."}));
  EXPECT_EQ(repair({"params_shard_0.bin", "params_shard_1.bin"}), "");
  EXPECT_EQ(faults(), std::vector<std::string>());
  EXPECT_EQ(hub_.n_asks("params_shard_0.bin"),
            4u);  // as the first download did: its md5 says that it is right
}

TEST_F(RecordFaultsTest, NamesWhatTheRecordHasNoHashOf) {
  change_record([](FolderRecord& record) { record.put({.name = "tokenizer.json", .n_bytes = 17}); });
  EXPECT_EQ(faults(),
            std::vector<std::string>{"tokenizer.json: The record (.zerotvm.json) has no sha256 of it."});
  EXPECT_EQ(repair({"tokenizer.json"}), "");
  EXPECT_EQ(faults(), std::vector<std::string>());
}

TEST_F(RecordFaultsTest, ADownloadDoesNotBelieveARecordThatLacksFiles) {
  change_record([](FolderRecord& record) { record.files.clear(); });
  std::filesystem::remove(folder() / "params_shard_1.bin");
  const auto summary = download();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->end, DownloadSummary::End::complete);
  EXPECT_EQ(faults(), std::vector<std::string>());
}

TEST_F(RecordFaultsTest, ARepairDoesNotClaimWhatTheRepositoryLacks) {
  overwrite("chat_template.jinja", "{{ mine }}");
  EXPECT_EQ(faults(),
            std::vector<std::string>{"chat_template.jinja: The record (.zerotvm.json) does not name it."});
  EXPECT_EQ(repair({"chat_template.jinja"}),
            path_of("chat_template.jinja") + " is no file of o/n, so nothing tells what it should hold.");
}

TEST_F(RecordFaultsTest, AnMd5CountsAlsoWhereTheRecordAgrees) {
  const std::string other = test::make_content(700, 9);
  overwrite("params_shard_1.bin", other);
  change_record([&](FolderRecord& record) {
    record.put({.name = "params_shard_1.bin", .n_bytes = 700, .sha256 = sha256_of(as_bytes(other))});
  });
  ASSERT_EQ(faults().size(), 1u);
  EXPECT_NE(faults()[0].find("params_shard_1.bin: It has md5 "), std::string::npos) << faults()[0];
}

TEST_F(RecordFaultsTest, RemembersThatTheHubToldAHash) {
  EXPECT_TRUE((*read_record(folder()))->find("params_shard_0.bin")->published);
  EXPECT_FALSE((*read_record(folder()))->find("tokenizer.json")->published);
}

TEST_F(RecordFaultsTest, RefusesARecordThatContradictsItself) {
  const std::string head = R"({"version":1,"repo":"o/n","hub":"http://h","complete":true,"files":)";
  const std::string file = R"({"name":"a","bytes":1})";
  EXPECT_EQ(refused(head + "[" + file + "]}"), "none");
  EXPECT_EQ(refused(head + "[],\"files\":[" + file + "]}"),
            path_of(".zerotvm.json") + " has the key \"files\" twice in one object.");
  EXPECT_EQ(refused(head + "[" + file + "," + file + "]}"),
            path_of(".zerotvm.json") + " names the file \"a\" twice.");
  EXPECT_NE(refused(head + "[" + file).find("is not valid JSON: it ends too early, at line 1, column "),
            std::string::npos);
  EXPECT_NE(
      refused(head + R"([{"name":"\u001b[31mred"}]})").find(R"(names the file "\x1b[31mred", expected)"),
      std::string::npos);
  EXPECT_NE(refused(head + R"([{"name":"a\u009b31m"}]})").find(R"("a\xc2\x9b31m", expected a plain name)"),
            std::string::npos);
  EXPECT_NE(refused(head + R"([{"name":"a","bytes":18446744073709551615}]})").find("an integer below 2^63"),
            std::string::npos);
  EXPECT_NE(refused(R"({"version":1,"repo":"o/n\u001b[2J","hub":"","complete":true,"files":[]})")
                .find(R"(has the repository "o/n\x1b[2J", expected OWNER/NAME.)"),
            std::string::npos);
  EXPECT_NE(refused(R"({"version":1,"repo":"o/n","hub":"file:///etc","complete":true,"files":[]})")
                .find(R"(has the hub "file:///etc", expected http://HOST)"),
            std::string::npos);
}

TEST_F(RecordFaultsTest, ALoadTellsOfAFileThatTheManifestContradicts) {
  std::filesystem::remove(record_path(folder()));
  overwrite("params_shard_1.bin", test::make_content(700, 9));
  BackgroundRecord(folder(), stamps_of(folder()), warn_).wait();
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0].find(path_of("params_shard_1.bin") + ": It has md5 "), 0u) << warnings_[0];
  EXPECT_EQ((*read_record(folder()))->find("params_shard_1.bin"), nullptr);
}

TEST_F(RecordFaultsTest, ALoadTellsOfAFileThatChangedSince) {
  std::filesystem::remove(record_path(folder()));
  FileStamps before = stamps_of(folder());
  before.at("tokenizer.json").changed -= std::chrono::seconds(5);
  BackgroundRecord(folder(), before, warn_).wait();
  EXPECT_EQ(warnings_,
            std::vector<std::string>{path_of("tokenizer.json") +
                                     ": It has changed since the model was loaded, so it is not recorded."});
  EXPECT_EQ((*read_record(folder()))->find("tokenizer.json"), nullptr);
  EXPECT_FALSE((*read_record(folder()))->complete);
}

TEST_F(RecordFaultsTest, ALoadTellsOfAFileOfAnotherLengthThanRecorded) {
  overwrite("tokenizer.json", "{}");
  BackgroundRecord(folder(), stamps_of(folder()), warn_).wait();
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("another length than the 17 bytes that are recorded."), std::string::npos)
      << warnings_[0];
}

}  // namespace
}  // namespace ztvm::app
