// What peers print becomes figures or a plain reason; a peer that hangs or fails says so.
#include "apps/bench/peer.hpp"

#include <gtest/gtest.h>

namespace ztvm::app {
namespace {

const bench::BenchOptions k_bench = {.prompt_tokens = 512, .gen_tokens = 64, .depths = {0, 128}, .repeat = 2};

constexpr std::string_view k_answer =
    R"({"peer": "other engine", "device": "GPU 1", "version": "7", "command": "other -n 64",
        "prefill": {"n_tokens": 512, "tokens_per_s": [100, 110.5]},
        "decode": [{"depth": 0, "tokens_per_s": [50.0, 52.0]}, {"depth": 128, "tokens_per_s": [40]}]})";

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(k_answer);
  return text.replace(text.find(from), from.size(), to);
}

TEST(PeerAnswer, HasTheFiguresOfATask) {
  const auto answer = parse_peer_answer(k_answer, k_bench, /*prepare=*/false);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->name, "other engine");
  EXPECT_EQ(answer->device, "GPU 1");
  EXPECT_EQ(answer->version, "7");
  EXPECT_EQ(answer->command, "other -n 64");
  EXPECT_EQ(answer->prefill_tokens_per_s.values, (std::vector<double>{100.0, 110.5}));
  ASSERT_EQ(answer->decode_tokens_per_s.size(), 2u);
  EXPECT_EQ(answer->decode_tokens_per_s[1].values, (std::vector<double>{40.0}));
}

TEST(PeerAnswer, MaySayThatThePeerCannotRun) {
  const auto answer =
      parse_peer_answer(R"({"peer": "other engine", "unavailable": "no such device"})", k_bench, false);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->unavailable, "no such device");
}

TEST(PeerAnswer, NeedsNoFiguresAfterPreparing) {
  EXPECT_TRUE(parse_peer_answer(R"({"peer": "other engine"})", k_bench, /*prepare=*/true));
  EXPECT_FALSE(parse_peer_answer(R"({"peer": "other engine"})", k_bench, /*prepare=*/false));
}

TEST(PeerAnswer, OfAnotherTaskOrFormIsRefused) {
  const std::string bad[] = {"",
                             "hello",
                             "[]",
                             "{}",
                             replaced("\"peer\"", "\"name\""),
                             replaced("512", "256"),
                             replaced("\"depth\": 128", "\"depth\": 129"),
                             replaced("[40]", "[]"),
                             replaced("[40]", "40"),
                             replaced("[40]", "[0]"),
                             replaced("[40]", "[-1]"),
                             replaced("[40]", "[\"fast\"]"),
                             replaced("\"prefill\": {", "\"prefill\": [], \"x\": {"),
                             replaced(", {\"depth\": 128, \"tokens_per_s\": [40]}", "")};
  for (const std::string& text : bad) {
    const auto answer = parse_peer_answer(text, k_bench, /*prepare=*/false);
    ASSERT_FALSE(answer) << text;
    EXPECT_EQ(answer.error().code, ErrorCode::corrupt_file);
  }
}

TEST(PeerCommands, NameTheTask) {
  const PeerTask random = {.model = "", .random = "phi3", .n_layers = 0, .bench = k_bench};
  EXPECT_EQ(command_line({"python3", "peer.py"}, random, /*prepare=*/true),
            (PeerCommand{"python3", "peer.py", "--random", "phi3", "--prompt-tokens", "512", "--gen-tokens",
                         "64", "--depths", "0,128", "--repeat", "2", "--prepare"}));
  const PeerTask file = {.model = "a b.gguf", .random = "", .n_layers = 0, .bench = k_bench};
  const PeerCommand command = command_line({"peer"}, file, /*prepare=*/false);
  EXPECT_EQ(command[2], "a b.gguf");
  EXPECT_EQ(command.back(), "2");
}

TEST(PeerCommands, AreFoundInAFolder) {
  const auto peers = find_peers({ZTVM_SOURCE_DIR "/bench/peers"});
  ASSERT_TRUE(peers) << peers.error().text;
  std::vector<std::string> names;
  for (const PeerCommand& peer : *peers) names.push_back(working_name(peer));
  EXPECT_EQ(names,
            (std::vector<std::string>{"peer_llama_cpp_cpu", "peer_llama_cpp_cuda", "peer_llama_cpp_vulkan"}));
  EXPECT_FALSE(find_peers({ZTVM_SOURCE_DIR "/docs"}));
  const auto line = find_peers({"other --fast"});
  ASSERT_TRUE(line);
  EXPECT_EQ(working_name(line->front()), "other --fast");
}

// Asks a command line for the shell.
Result<PeerAnswer> ask(const std::string& line, double limit_s, std::function<bool()> interrupted = {}) {
  const auto peers = find_peers({line});
  return ask_peer(peers->front(), {.model = "m.gguf", .random = "", .n_layers = 0, .bench = k_bench}, false,
                  {.seconds = limit_s, .interrupted = std::move(interrupted)});
}

TEST(AskPeer, GivesItsAnswer) {
  const auto answer = ask("echo '" + std::string(k_answer) + "'; true", 60.0);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->name, "other engine");
}

TEST(AskPeer, AFailureNamesCommandAndLastLines) {
  const auto answer = ask("seq 100 >&2; echo no device >&2; exit 3; true", 60.0);
  ASSERT_FALSE(answer);
  const std::string& text = answer.error().text;
  EXPECT_NE(text.find("--model m.gguf"), std::string::npos) << text;
  EXPECT_NE(text.find("ends with 3: 94\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("100\nno device")) << text;
}

TEST(AskPeer, IsStoppedAtTheLimitWithItsChildren) {
  const auto answer = ask("echo started >&2; sleep 1000 & sleep 1000; true", 0.2);
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().text.find("was stopped after 0 s: started"), std::string::npos)
      << answer.error().text;
}

TEST(AskPeer, IsStoppedByAnInterrupt) {
  const auto answer = ask("sleep 1000; true", 1000.0, [] { return true; });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unsupported);
}

TEST(AskPeer, AProgramThatIsMissingIsTold) {
  const std::vector<std::string> command = {"/nonexistent/peer"};
  const auto result = run_child(command, {.seconds = 1.0, .interrupted = {}});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text.find("/nonexistent/peer"), std::string::npos) << result.error().text;
}

}  // namespace
}  // namespace ztvm::app
