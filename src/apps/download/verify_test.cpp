#include "apps/download/verify.hpp"

#include <gtest/gtest.h>

#include "apps/download/background_record.hpp"
#include "apps/download/download.hpp"
#include "test_hub.hpp"

namespace ztvm::app {
namespace {

class VerifyTest : public testing::Test {
 protected:
  void SetUp() override {
    hub_.fill_mlc();
    const auto done = download_repo({.hub = hub_.url(), .repo = "o/n", .folder = folder()}, options_);
    ASSERT_TRUE(done) << done.error().text;
  }
  VerifyReport verify() const {
    auto report = verify_folder(folder(), {});
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : VerifyReport{};
  }
  std::string repair() const {
    std::vector<std::string> names;
    for (const FileFault& fault : verify().faults) names.push_back(fault.name);
    const auto summary = repair_folder(folder(), names, "", options_);
    return summary ? "" : summary.error().text;
  }
  // Changes one byte without changing the length.
  void damage(const std::string& name) const {
    std::fstream file(folder() / name, std::ios::binary | std::ios::in | std::ios::out);
    const std::string content = hub_.get(name);
    const std::size_t at = content.size() / 2;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(content[at] ^ 1));
  }
  static void must_not_warn(const std::string& sentence) { ADD_FAILURE() << sentence; }
  std::filesystem::path folder() const { return temp_.path() / "n"; }

  TempFolder temp_{test::fast_folder()};
  test::TestHub hub_;
  test::FetchClock clock_;
  DownloadOptions options_{.fetch = clock_.options()};
};

TEST_F(VerifyTest, FindsNothingWrongInAFreshDownload) {
  const VerifyReport report = verify();
  EXPECT_EQ(report.n_files, 5u);
  EXPECT_GT(report.n_bytes, 4200u);
  EXPECT_TRUE(report.faults.empty());
  EXPECT_FALSE(report.newly_recorded);
  EXPECT_EQ(report.n_published, 2u);  // the shards, by the manifest's md5
  EXPECT_TRUE(report.not_compared.empty());
  EXPECT_TRUE(report.can_repair);
}

TEST_F(VerifyTest, NamesEveryFault) {
  damage("params_shard_0.bin");
  std::filesystem::resize_file(folder() / "params_shard_1.bin", 699);
  std::filesystem::remove(folder() / "tokenizer.json");
  const VerifyReport report = verify();
  ASSERT_EQ(report.faults.size(), 3u);
  EXPECT_EQ(report.faults[0].name, "tokenizer.json");
  EXPECT_EQ(report.faults[0].why, "It is missing.");
  EXPECT_EQ(report.faults[1].name, "params_shard_0.bin");
  EXPECT_NE(report.faults[1].why.find("It has sha256 "), std::string::npos);
  EXPECT_NE(report.faults[1].why.find(sha256_of(as_bytes(hub_.get("params_shard_0.bin")))),
            std::string::npos);
  EXPECT_EQ(report.faults[2].why, "It has 699 bytes, expected 700.");
}

TEST_F(VerifyTest, RepairsOnlyWhatIsWrong) {
  damage("params_shard_0.bin");
  std::filesystem::remove(folder() / "tokenizer.json");
  const std::size_t n_before = hub_.n_asks("params_shard_1.bin");
  EXPECT_EQ(repair(), "");
  EXPECT_TRUE(verify().faults.empty());
  EXPECT_EQ(hub_.n_asks("params_shard_1.bin"), n_before);
}

TEST_F(VerifyTest, DoesNotRepairWithOtherContents) {
  damage("params_shard_1.bin");
  hub_.put("params_shard_1.bin", test::make_content(700, 9));
  const std::string error = repair();
  EXPECT_NE(error.find("params_shard_1.bin has sha256 "), std::string::npos) << error;
  EXPECT_EQ(verify().faults.size(), 1u);
}

TEST_F(VerifyTest, FinishesAnUnfinishedDownload) {
  auto record = **read_record(folder());
  record.complete = false;
  ASSERT_TRUE(write_record(folder(), record));
  EXPECT_EQ(verify().faults.size(), 1u);
  EXPECT_EQ(repair(), "");
  EXPECT_TRUE(verify().faults.empty());
}

TEST_F(VerifyTest, RecordsAFolderThatCameAnotherWay) {
  std::filesystem::remove(record_path(folder()));
  const VerifyReport first = verify();
  EXPECT_TRUE(first.newly_recorded);
  EXPECT_EQ(first.n_published, 2u);
  EXPECT_EQ(first.not_compared,
            (std::vector<std::string>{"mlc-chat-config.json", "ndarray-cache.json", "tokenizer.json"}));
  const VerifyReport second = verify();
  EXPECT_FALSE(second.newly_recorded);
  EXPECT_EQ(second.n_published, 2u);
  EXPECT_TRUE(second.not_compared.empty());
  EXPECT_NE(repair_folder(folder(), {}, "", options_).error().text.find("Nothing tells where"),
            std::string::npos);
}

TEST_F(VerifyTest, HoldsAFolderWithoutARecordAgainstItsManifest) {
  std::filesystem::remove(record_path(folder()));
  damage("params_shard_0.bin");
  const VerifyReport report = verify();
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_NE(report.faults[0].why.find("It has md5 "), std::string::npos) << report.faults[0].why;
  EXPECT_FALSE(report.newly_recorded);
  EXPECT_FALSE(std::filesystem::exists(record_path(folder())));
}

TEST_F(VerifyTest, ALoadRecordsWhatVerifyHoldsTheFolderTo) {
  std::filesystem::remove(record_path(folder()));
  BackgroundRecord(folder(), stamps_of(folder()), must_not_warn).wait();
  const auto record = read_record(folder());
  ASSERT_TRUE(record && *record);
  EXPECT_TRUE((*record)->complete);
  EXPECT_EQ((*record)->find("params_shard_0.bin")->sha256,
            sha256_of(as_bytes(hub_.get("params_shard_0.bin"))));
  EXPECT_TRUE(verify().faults.empty());
  damage("params_shard_1.bin");
  ASSERT_EQ(verify().faults.size(), 1u);
  EXPECT_NE(verify().faults[0].why.find("It has sha256 "), std::string::npos);
}

TEST_F(VerifyTest, ARecordThatEndedEarlyGoesOn) {
  std::filesystem::remove(record_path(folder()));
  // Ends before the last shard.
  const auto until_last = [](std::string_view name, std::uint64_t, std::uint64_t) {
    return name != "params_shard_1.bin";
  };
  EXPECT_FALSE(record_folder(folder(), until_last));
  const auto partial = read_record(folder());
  ASSERT_TRUE(partial && *partial);
  EXPECT_TRUE((*partial)->is_partial());
  EXPECT_EQ((*partial)->files.size(), 4u);
  EXPECT_FALSE(is_incomplete(folder()));  // a model like any other

  std::vector<std::string> read;
  const auto note = [&](std::string_view name, std::uint64_t, std::uint64_t) {
    read.emplace_back(name);
    return true;
  };
  ASSERT_TRUE(record_folder(folder(), note));
  EXPECT_EQ(read, std::vector<std::string>{"params_shard_1.bin"});
  EXPECT_TRUE((*read_record(folder()))->complete);
  ASSERT_TRUE(record_folder(folder(), note));
  EXPECT_EQ(read.size(), 1u);  // nothing is left to read
}

TEST_F(VerifyTest, APartialRecordCounts) {
  std::filesystem::remove(record_path(folder()));
  EXPECT_FALSE(record_folder(folder(), [](std::string_view name, std::uint64_t, std::uint64_t) {
    return name != "params_shard_1.bin";
  }));
  damage("tokenizer.json");
  const VerifyReport report = verify();
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].name, "tokenizer.json");
  EXPECT_FALSE(report.newly_recorded);
}

TEST_F(VerifyTest, ADamagedFileIsNotRecordedByALoad) {
  std::filesystem::remove(record_path(folder()));
  damage("params_shard_0.bin");
  const auto recorded = record_folder(folder(), {});
  ASSERT_FALSE(recorded);
  EXPECT_NE(recorded.error().text.find("params_shard_0.bin\": It has md5 "), std::string::npos)
      << recorded.error().text;
  EXPECT_EQ((*read_record(folder()))->find("params_shard_0.bin"), nullptr);
}

TEST_F(VerifyTest, AFolderThatCannotBeWrittenToStaysAsItIs) {
  std::filesystem::remove(record_path(folder()));
  std::filesystem::create_directory(record_path(folder()).string() + ".new");  // in the way, also of root
  BackgroundRecord(folder(), {}, must_not_warn).wait();
  EXPECT_FALSE(std::filesystem::exists(record_path(folder())));
}

TEST_F(VerifyTest, SaysThatAFolderHoldsNoModel) {
  const TempFolder empty;
  const auto report = verify_folder(empty.path(), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::not_found);
  EXPECT_NE(report.error().text.find("holds no model"), std::string::npos);
}

TEST_F(VerifyTest, EndsWhenAsked) {
  EXPECT_FALSE(verify_folder(folder(), [](std::string_view, std::uint64_t, std::uint64_t) { return false; }));
}

}  // namespace
}  // namespace ztvm::app
