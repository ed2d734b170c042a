// The tiny llama-family GGUF against values that transformers' and ggml's own readers gave.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "load/describe.hpp"
#include "load/gguf.hpp"
#include "load/transform.hpp"
#include "load/upload_plan.hpp"
#include "read_file.hpp"

namespace ztvm::load {
namespace {

constexpr std::string_view k_name = "tiny-smollm2.Q4_1.gguf";
constexpr std::uint32_t k_head_dim = 16;

class GgufGolden : public testing::Test {
 protected:
  void SetUp() override {
    bytes_ = test::read_source_file("tests/golden/llama/model/tiny-smollm2.Q4_1.gguf");
    auto parsed = parse_gguf(as_bytes(bytes_), k_name, bytes_.size());
    ASSERT_TRUE(parsed) << parsed.error().text;
    gguf_ = std::get<GgufFile>(std::move(*parsed));
    auto golden =
        parse_json(test::read_source_file("tests/golden/llama/golden/tensors.json"), "tensors.json");
    ASSERT_TRUE(golden) << golden.error().text;
    golden_ = std::move((*golden)["tensors"]);
  }

  // The tensor in kernel layout, uploaded in small pieces, then dequantised: [rows][dim].
  std::vector<std::vector<float>> load(const TensorRecord& tensor, std::uint32_t unpermute_head_dim) const {
    const QuantLayout layout = kernel_layout(tensor, k_name).value();
    QuantisedRows whole;
    whole.words.resize(layout.words_bytes_per_row() * tensor.n_rows());
    whole.scales.resize(layout.scales_bytes_per_row() * tensor.n_rows());
    const UploadRequest request = {
        .tensor = &tensor,
        .unpermute_head_dim = unpermute_head_dim,
        .targets = {{.words_slot = 0, .scales_slot = 1, .n_rows = tensor.n_rows()}}};
    QuantisedRows piece;
    for (const UploadStep& step : plan_uploads({&request, 1}, gguf_.checkpoint, 4096).value()) {
      const ByteRange& range = step.sources.front().range;
      const Bytes source = as_bytes(bytes_).subspan(range.offset, range.n_bytes);
      EXPECT_TRUE(apply(step, {&source, 1}, gguf_.checkpoint.files, piece));
      std::ranges::copy(piece.words, whole.words.begin() + step.words.offset);
      std::ranges::copy(piece.scales, whole.scales.begin() + step.scales.offset);
    }
    std::vector<std::vector<float>> rows(tensor.n_rows(), std::vector<float>(tensor.dim()));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::size_t words_bytes = layout.words_bytes_per_row();
      const std::size_t scales_bytes = layout.scales_bytes_per_row();
      dequantise_row(layout.kind, Bytes(whole.words).subspan(row * words_bytes, words_bytes),
                     Bytes(whole.scales).subspan(row * scales_bytes, scales_bytes), rows[row]);
    }
    return rows;
  }

  std::string bytes_;
  GgufFile gguf_;
  Json golden_;
};

TEST_F(GgufGolden, EveryTensor) {
  ASSERT_EQ(golden_.size(), gguf_.checkpoint.tensors.size());
  for (const Json& golden : golden_) {
    const auto name = golden["name"].get<std::string>();
    SCOPED_TRACE(name);
    const auto tensor = gguf_.checkpoint.require(name, golden["shape"].get<std::vector<std::uint64_t>>());
    ASSERT_TRUE(tensor) << tensor.error().text;
    const auto rows = load(**tensor, 0);
    double sum = 0.0;
    double abs_sum = 0.0;
    for (const auto& row : rows) {
      for (const float value : row) {
        sum += value;
        abs_sum += std::fabs(value);
      }
    }
    EXPECT_NEAR(sum, golden["sum"].get<double>(), 1e-9 * abs_sum);
    EXPECT_NEAR(abs_sum, golden["abs_sum"].get<double>(), 1e-9 * abs_sum);
    const auto first = golden["row0_first8"].get<std::vector<float>>();
    const auto last = golden["last_row_last8"].get<std::vector<float>>();
    EXPECT_EQ(std::vector<float>(rows.front().begin(), rows.front().begin() + 8), first);
    EXPECT_EQ(std::vector<float>(rows.back().end() - 8, rows.back().end()), last);
  }
}

TEST_F(GgufGolden, UnpermutedQueriesAreTheSameRowsInRotateHalfOrder) {
  for (const char* name : {"blk.0.attn_q.weight", "blk.3.attn_k.weight"}) {
    const TensorRecord* tensor = gguf_.checkpoint.find(name);
    ASSERT_NE(tensor, nullptr);
    const auto stored = load(*tensor, 0);
    const auto rotate_half = load(*tensor, k_head_dim);
    for (std::size_t head = 0; head < stored.size() / k_head_dim; ++head) {
      for (std::size_t j = 0; j < k_head_dim / 2; ++j) {
        const std::size_t first = head * k_head_dim;
        EXPECT_EQ(rotate_half[first + j], stored[first + 2 * j]);
        EXPECT_EQ(rotate_half[first + k_head_dim / 2 + j], stored[first + 2 * j + 1]);
      }
    }
  }
}

TEST_F(GgufGolden, Description) {
  const std::string text = describe(gguf_);
  for (const char* line :
       {"GGUF version 3, architecture llama, 301.8 kB, alignment 32\n", "llama.attention.head_count_kv",
        "string[580]", "token_embd.weight                Q8_0  [580, 96]           59.2 kB\n",
        "blk.3.attn_k.weight              Q4_1  [32, 96]             1.9 kB\n", "Q4_1     28 tensors",
        "F32       9 tensors"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nis not in\n" << text;
  }
}

}  // namespace
}  // namespace ztvm::load
