// Every golden row of the seven tokenizers: text to ids and ids to text.
#include <gtest/gtest.h>

#include "support/tokenizer_data.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::text {
namespace {

using tests::get_tokenizer;
using tests::read_golden_rows;
using Ids = std::vector<TokenId>;

class TokenizerGolden : public testing::TestWithParam<std::string> {};

void expect_decodes(const Tokenizer& tokenizer, const OrderedJson& row) {
  const Ids ids = row["ids"].get<Ids>();
  EXPECT_EQ(tokenizer.decode(ids, false).value(), row["decoded"].get<std::string>()) << row.dump();
  if (row.contains("decoded_skip")) {
    EXPECT_EQ(tokenizer.decode(ids, true).value(), row["decoded_skip"].get<std::string>()) << row.dump();
  }
}

TEST_P(TokenizerGolden, EncodesAndDecodesEveryText) {
  const Tokenizer& tokenizer = get_tokenizer(GetParam());
  const std::vector<OrderedJson> rows = read_golden_rows(GetParam() + ".jsonl");
  ASSERT_FALSE(rows.empty());
  for (const OrderedJson& row : rows) {
    EXPECT_EQ(tokenizer.encode(row["text"].get<std::string>(), AddedTokens::on), row["ids"].get<Ids>())
        << row.dump();
    expect_decodes(tokenizer, row);
  }
}

TEST_P(TokenizerGolden, DecodesEveryListOfIds) {
  const std::vector<OrderedJson> rows = read_golden_rows(GetParam() + ".decode.jsonl");
  ASSERT_FALSE(rows.empty());
  for (const OrderedJson& row : rows) expect_decodes(get_tokenizer(GetParam()), row);
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerGolden, testing::ValuesIn(tests::k_tokenizer_names),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace ztvm::text
