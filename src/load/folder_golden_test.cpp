// The tiny MLC and MLX models against the values that transformers' goldens were made from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/json.hpp"
#include "load/describe.hpp"
#include "load/transform.hpp"
#include "model_folder.hpp"

namespace ztvm::load {
namespace {

struct Golden {
  const char* name;
  CheckpointKind kind;
  friend void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }
};

class FolderGolden : public testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    const std::string path = std::string("tests/golden/") + GetParam().name;
    folder_ = test::ModelFolder::open(path + "/model");
    auto model = test::read_model(folder_);
    ASSERT_TRUE(model) << model.error().text;
    model_ = std::move(*model);
    auto golden = parse_json(test::read_source_file(path + "/golden/tensors.json"), "tensors.json");
    ASSERT_TRUE(golden) << golden.error().text;
    golden_ = std::move((*golden)["tensors"]);
  }

  // The values of a tensor in small pieces through the upload plan, row by row.
  std::vector<float> load(const TensorRecord& tensor) const {
    const bool flatten = info(tensor.dtype).block_elements == 1;
    const std::uint64_t n_rows = flatten ? 1 : tensor.n_rows();
    const UploadRequest request = {
        .tensor = &tensor,
        .flatten = flatten,
        .targets = {{.words_slot = 0, .scales_slot = 1, .first_row = 0, .n_rows = n_rows}}};
    auto steps = plan_uploads({&request, 1}, model_.checkpoint, 1500);
    EXPECT_TRUE(steps) << steps.error().text;
    if (!steps) return {};
    const QuantLayout layout = steps->front().layout;
    auto slots = test::read_weights(folder_, model_.checkpoint, std::move(*steps));
    EXPECT_TRUE(slots) << slots.error().text;
    if (!slots) return {};
    std::vector<float> values(n_rows * layout.dim);
    for (std::size_t row = 0; row < n_rows; ++row) {
      const std::size_t words = layout.words_bytes_per_row();
      const std::size_t scales = layout.scales_bytes_per_row();
      dequantise_row(layout.kind, as_bytes(slots->at(0)).subspan(row * words, words),
                     layout.has_scales() ? as_bytes(slots->at(1)).subspan(row * scales, scales) : Bytes(),
                     std::span(values).subspan(row * layout.dim, layout.dim));
    }
    return values;
  }

  test::ModelFolder folder_;
  ModelFiles model_;
  Json golden_;
};

TEST_P(FolderGolden, EveryTensor) {
  EXPECT_EQ(model_.kind, GetParam().kind);
  const auto n_of_text = std::ranges::count_if(model_.checkpoint.tensors, [](const TensorRecord& tensor) {
    return !tensor.name.starts_with("vision_tower.") && tensor.name.find("mtp.") == std::string::npos;
  });
  ASSERT_EQ(golden_.size(), static_cast<std::size_t>(n_of_text));
  for (const Json& golden : golden_) {
    auto name = golden["name"].get<std::string>();
    if (model_.checkpoint.find(name) == nullptr) name += ".weight";
    SCOPED_TRACE(name);
    const auto tensor = model_.checkpoint.require(name, golden["shape"].get<std::vector<std::uint64_t>>());
    ASSERT_TRUE(tensor) << tensor.error().text;
    if (golden.contains("bits")) EXPECT_EQ((*tensor)->bits, golden["bits"].get<std::uint32_t>());
    const std::vector<float> values = load(**tensor);
    double sum = 0.0;
    double abs_sum = 0.0;
    for (const float value : values) {
      sum += value;
      abs_sum += std::fabs(value);
    }
    EXPECT_NEAR(sum, golden["sum"].get<double>(), 1e-9 * abs_sum);
    EXPECT_NEAR(abs_sum, golden["abs_sum"].get<double>(), 1e-9 * abs_sum);
    const auto first = golden["row0_first8"].get<std::vector<float>>();
    const auto last = golden["last_row_last8"].get<std::vector<float>>();
    EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + first.size()), first);
    EXPECT_EQ(std::vector<float>(values.end() - last.size(), values.end()), last);
  }
}

TEST_P(FolderGolden, TextsAreKept) {
  EXPECT_EQ(model_.texts.mlc_chat_config.has_value(), GetParam().kind == CheckpointKind::mlc);
  EXPECT_EQ(model_.texts.config.has_value(), GetParam().kind == CheckpointKind::safetensors);
  EXPECT_EQ(model_.texts.generation_config.has_value(), folder_.files.contains("generation_config.json"));
  EXPECT_EQ(model_.texts.tokenizer, folder_.files.at("tokenizer.json"));
  EXPECT_EQ(model_.texts.tokenizer_config, folder_.files.at("tokenizer_config.json"));
  EXPECT_FALSE(model_.gguf);
  EXPECT_FALSE(describe(model_).empty());
}

INSTANTIATE_TEST_SUITE_P(Tiny, FolderGolden,
                         testing::Values(Golden{"phi3", CheckpointKind::mlc},
                                         Golden{"qwen3", CheckpointKind::mlc},
                                         Golden{"qwen35", CheckpointKind::mlc},
                                         Golden{"qwen36", CheckpointKind::safetensors},
                                         Golden{"qwen36q3", CheckpointKind::safetensors}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ztvm::load
