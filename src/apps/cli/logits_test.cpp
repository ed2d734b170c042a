// The context of logits: that of its ids, or what --context says.
#include "apps/cli/logits.hpp"

#include <gtest/gtest.h>

#include <string>

#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

class LogitsCommand : public testing::Test {
 protected:
  // What it prints on stderr.
  std::string run(const std::string& ids, const std::string& more) {
    CLI::App program("test", "zerotvm");
    Action action;
    add_logits_command(program, action);
    program.parse("logits " + std::string(ZTVM_SOURCE_DIR) +
                  "/tests/golden/llama/model/tiny-smollm2.Q4_1.gguf" + " --backend reference --out " +
                  (folder_.path() / "out").string() + " --ids " + ids + more);
    testing::internal::CaptureStderr();
    (void)action();
    return testing::internal::GetCapturedStderr();
  }

  TempFolder folder_;
};

TEST_F(LogitsCommand, TakesTheContextThatTheIdsNeed) {
  std::string many = "5";
  for (int i = 1; i < 5000; ++i) many += ",5";
  EXPECT_NE(run(many, "").find("A context of 5000 tokens is asked for, but "), std::string::npos);
  EXPECT_EQ(run("5,6,7", ""), "");
}

TEST_F(LogitsCommand, TakesTheContextThatIsAskedFor) {
  EXPECT_EQ(run("5,6", " --context 2"), "");
  EXPECT_NE(
      run("5,6,7", " --context 2").find("The prompt has 3 tokens, but the context holds 2; --context asks"),
      std::string::npos);
}

}  // namespace
}  // namespace ztvm::app
