// Every golden chat: rendered text and ids, as the vendor's template and tokenizer make them and as segments.
#include <gtest/gtest.h>

#include "support/tokenizer_data.hpp"
#include "text/chat_template.hpp"

namespace ztvm::text {
namespace {

using Ids = std::vector<TokenId>;

ChatRequest request_of(const OrderedJson& row) {
  ChatRequest request{.messages = row["messages"],
                      .add_generation_prompt = row["add_generation_prompt"].get<bool>()};
  if (row.contains("tools")) request.tools = row["tools"];
  if (row.contains("enable_thinking")) request.enable_thinking = row["enable_thinking"].get<bool>();
  return request;
}

class ChatGolden : public testing::TestWithParam<std::string> {};

TEST_P(ChatGolden, RendersAndEncodesEveryChat) {
  const Tokenizer& tokenizer = tests::get_tokenizer(GetParam());
  const std::vector<OrderedJson> rows = tests::read_golden_rows(GetParam() + ".chat.jsonl");
  ASSERT_FALSE(rows.empty());
  for (const OrderedJson& row : rows) {
    const Result<std::vector<Segment>> segments =
        render_chat(find_template(row["template"].get<std::string>()).value(), request_of(row));
    if (row.contains("error")) {
      EXPECT_FALSE(segments) << row.dump();
      continue;
    }
    ASSERT_TRUE(segments) << segments.error().text << row.dump();
    EXPECT_EQ(join(*segments), row["rendered"].get<std::string>()) << row.dump();
    const Ids ids = row["ids"].get<Ids>();
    EXPECT_EQ(encode_chat(tokenizer, *segments, ChatEncoding::vendor_compatible), ids) << row.dump();
    // No content of these rows spells an added token after rendering, so segments give the same ids.
    EXPECT_EQ(encode_chat(tokenizer, *segments, ChatEncoding::safe), ids) << row.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChatGolden, testing::Values("phi3", "smollm2", "qwen3", "qwen35", "llama3"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace ztvm::text
