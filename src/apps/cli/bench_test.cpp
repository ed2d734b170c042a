// What the command line of bench is refused for.
#include "apps/cli/bench.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ztvm::app {
namespace {

// Empty: it is taken.
std::string refused(const std::string& line) {
  CLI::App program("test", "zerotvm");
  Action action;
  add_bench_command(program, action);
  try {
    program.parse(line);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(BenchCommand, LayersAreOfARandomModel) {
  EXPECT_EQ(refused("bench --random phi3 --layers 2"), "");
  EXPECT_NE(refused("bench model --layers 2").find("--random"), std::string::npos);
}

TEST(BenchCommand, ADepthThatIsNoneIsCalledSo) {
  EXPECT_EQ(refused("bench model --depth a"),
            "--depth: \"a\" is no depth, expected decimal numbers with commas between.");
}

}  // namespace
}  // namespace ztvm::app
