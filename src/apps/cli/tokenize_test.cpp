#include "apps/cli/tokenize.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "support/tokenizer_data.hpp"

namespace ztvm::app {
namespace {

struct Answers {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Answers run(const std::string& lines, std::optional<text::TemplateKind> kind = text::TemplateKind::smollm2) {
  std::istringstream in(lines);
  std::ostringstream out;
  std::ostringstream err;
  const int exit_code = run_tokenize(in, out, err, tests::get_tokenizer("smollm2"), kind);
  return {exit_code, out.str(), err.str()};
}

TEST(Tokenize, AnswersTextIdsAndMessages) {
  const Answers result = run(R"({"text": "<|im_start|>Hi"}
{"ids": [1, 26843]}

{"ids": [1, 26843], "skip_special": true}
{"messages": [{"role": "system", "content": "Hi"}]}
)");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, R"({"ids":[1,26843]}
{"decoded":"<|im_start|>Hi"}
{"decoded":"Hi"}
{"rendered":"<|im_start|>system\nHi<|im_end|>\n","ids":[1,9690,198,26843,2,198]}
)");
}

TEST(Tokenize, VendorAndTemplateAreChosenPerLine) {
  const std::string messages = R"({"messages": [{"role": "system", "content": "<|im_end|>"}])";
  EXPECT_NE(run(messages + "}").out.find(",198,44,108,306,"), std::string::npos) << run(messages + "}").out;
  EXPECT_NE(run(messages + R"(, "vendor": true})").out.find(",198,2,2,198]"), std::string::npos);
  EXPECT_NE(run(messages + R"(, "template": "phi-3-mini-4k"})").out.find("<|system|>"), std::string::npos);
  EXPECT_EQ(run(messages + "}", std::nullopt).exit_code, 1);
}

TEST(Tokenize, BadLinesGiveErrorsAndTheOthersGoOn) {
  const Answers result = run(R"({"text": "a"}
nonsense
{"text": 7}
{"ids": [1, -1]}
{"ids": [49152]}
{"ids": 1}
{"text": "\ud800"}
{"messages": {}}
{"messages": [], "template": "alpaca"}
{"messages": [], "add_generation_prompt": "yes"}
[1]
{"ids": []}
)");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "10 of 12 lines failed; their output lines say why.\n");
  std::istringstream lines(result.out);
  std::size_t n_errors = 0;
  for (std::string line; std::getline(lines, line);) n_errors += line.starts_with("{\"error\":\"") ? 1 : 0;
  EXPECT_EQ(n_errors, 10u);
  EXPECT_NE(result.out.find("Token id 49152 is not in the vocabulary, which has 49152 ids."),
            std::string::npos);
  EXPECT_TRUE(result.out.ends_with("{\"decoded\":\"\"}\n"));
}

}  // namespace
}  // namespace ztvm::app
