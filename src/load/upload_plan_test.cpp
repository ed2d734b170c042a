#include "load/upload_plan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace ztvm::load {
namespace {

constexpr std::uint32_t k_dim = 32;

// A file of F32 matrices whose values tell tensor and row.
struct Fixture {
  Checkpoint file;
  std::string bytes;
  std::map<std::uint32_t, std::string> slots;

  Fixture() {
    file.name = "x.gguf";
    file.files = {{.name = "x.gguf"}};
  }
  void add(const std::string& name, std::uint64_t rows) {
    TensorRecord tensor;
    tensor.name = name;
    tensor.shape = {rows, k_dim};
    tensor.parts = {{.range = {.offset = bytes.size(), .n_bytes = rows * k_dim * 4}}};
    for (std::uint64_t row = 0; row < rows; ++row) {
      const float value = static_cast<float>(file.tensors.size() * 100 + row);
      for (std::uint32_t i = 0; i < k_dim; ++i) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
      }
    }
    file.tensors.push_back(std::move(tensor));
  }
  void run(const std::vector<UploadStep>& steps) {
    QuantisedRows piece;
    for (const UploadStep& step : steps) {
      const ByteRange& range = step.sources.front().range;
      const Bytes source = as_bytes(bytes).subspan(range.offset, range.n_bytes);
      const auto applied = apply(step, {&source, 1}, file.files, piece);
      ASSERT_TRUE(applied) << applied.error().text;
      std::string& slot = slots[step.words.slot];
      slot.resize(std::max(slot.size(), step.words.offset + piece.words.size()));
      std::memcpy(slot.data() + step.words.offset, piece.words.data(), piece.words.size());
    }
  }
  // The value of each row of a slot.
  std::vector<int> rows(std::uint32_t slot) {
    std::vector<int> values;
    for (std::size_t at = 0; at < slots[slot].size(); at += k_dim * 4) {
      values.push_back(static_cast<int>(load_as<float>(as_bytes(slots[slot]), at)));
    }
    return values;
  }
};

RowTarget rows_at(std::uint32_t slot, std::uint64_t first_row, std::uint64_t n_rows) {
  return {.words_slot = slot, .scales_slot = slot + 100, .first_row = first_row, .n_rows = n_rows};
}

TEST(UploadPlan, FusesAndSplitsByRows) {
  Fixture fixture;
  fixture.add("k", 2);
  fixture.add("q", 3);
  fixture.add("big", 5);
  const UploadRequest requests[] = {
      {.tensor = &fixture.file.tensors[1], .targets = {rows_at(0, 0, 3)}},
      {.tensor = &fixture.file.tensors[0], .targets = {rows_at(0, 3, 2)}},
      {.tensor = &fixture.file.tensors[2], .targets = {rows_at(1, 0, 3), rows_at(2, 0, 2)}},
  };
  for (const std::uint64_t piece_bytes : {1ull, 128ull, 300ull, 4096ull}) {
    SCOPED_TRACE(piece_bytes);
    const auto steps = plan_uploads(requests, fixture.file, piece_bytes);
    ASSERT_TRUE(steps) << steps.error().text;
    std::uint64_t end = 0;
    for (const UploadStep& step : *steps) {
      EXPECT_EQ(step.sources[0].range.offset, end);  // file order, nothing left out
      EXPECT_LE(step.sources[0].range.n_bytes, std::max<std::uint64_t>(piece_bytes, k_dim * 4));
      end = step.sources[0].range.end();
    }
    EXPECT_EQ(end, fixture.bytes.size());
    fixture.slots.clear();
    fixture.run(*steps);
    EXPECT_EQ(fixture.rows(0), (std::vector<int>{100, 101, 102, 0, 1}));
    EXPECT_EQ(fixture.rows(1), (std::vector<int>{200, 201, 202}));
    EXPECT_EQ(fixture.rows(2), (std::vector<int>{203, 204}));
  }
}

TEST(UploadPlan, UnpermutesWholeHeads) {
  Fixture fixture;
  fixture.add("q", 12);
  const UploadRequest requests[] = {{.tensor = &fixture.file.tensors[0],
                                     .unpermute_head_dim = 4,
                                     .targets = {rows_at(0, 0, 8), rows_at(1, 0, 4)}}};
  for (const std::uint64_t piece_bytes : {1ull, 700ull, 4096ull}) {
    const auto steps = plan_uploads(requests, fixture.file, piece_bytes);
    ASSERT_TRUE(steps) << steps.error().text;
    for (const UploadStep& step : *steps) EXPECT_EQ(step.n_rows % 4, 0u);
    fixture.slots.clear();
    fixture.run(*steps);
    EXPECT_EQ(fixture.rows(0), (std::vector<int>{0, 2, 1, 3, 4, 6, 5, 7}));
    EXPECT_EQ(fixture.rows(1), (std::vector<int>{8, 10, 9, 11}));
  }
}

TEST(UploadPlan, RefusesWhatDoesNotFit) {
  Fixture fixture;
  fixture.add("q", 6);
  fixture.add("k", 4);
  const UploadRequest odd_heads[] = {
      {.tensor = &fixture.file.tensors[0], .unpermute_head_dim = 4, .targets = {rows_at(0, 0, 6)}}};
  const auto heads = plan_uploads(odd_heads, fixture.file);
  ASSERT_FALSE(heads);
  EXPECT_EQ(heads.error().text,
            "Tensor \"q\" has 6 rows, expected whole heads of 4 rows, an even number, in x.gguf.");

  fixture.file.tensors[1].dtype = Dtype::q8_0;
  const UploadRequest mixed[] = {{.tensor = &fixture.file.tensors[0], .targets = {rows_at(0, 0, 6)}},
                                 {.tensor = &fixture.file.tensors[1], .targets = {rows_at(0, 6, 4)}}};
  const auto shared = plan_uploads(mixed, fixture.file);
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().code, ErrorCode::unsupported);
  EXPECT_NE(shared.error().text.find("rows of 32 x q8, expected 32 x f32 as in tensor \"q\""),
            std::string::npos)
      << shared.error().text;
}

TEST(UploadPlan, DamagedScaleNamesTensorAndRow) {
  Checkpoint file;
  file.files = {{.name = "x.gguf"}};
  TensorRecord tensor;
  tensor.name = "w";
  tensor.dtype = Dtype::q8_0;
  tensor.shape = {3, k_dim};
  tensor.parts = {{.range = {.offset = 0, .n_bytes = 3 * 34}}};
  std::string bytes(3 * 34, '\0');
  bytes[2 * 34 + 1] = 0x7C;  // an infinite f16
  const UploadRequest requests[] = {{.tensor = &tensor, .targets = {rows_at(0, 0, 3)}}};
  const auto steps = plan_uploads(requests, file);
  ASSERT_TRUE(steps);
  QuantisedRows out;
  const Bytes source = as_bytes(bytes);
  const auto applied = apply(steps->front(), {&source, 1}, file.files, out);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::corrupt_file);
  EXPECT_NE(applied.error().text.find("Tensor \"w\" in x.gguf has a scale in row 2"), std::string::npos);
}

// Scales and biases of an MLX matrix, each in a file of its own.
TEST(UploadPlan, DamagedPartNamesItselfAndItsFile) {
  constexpr std::uint64_t k_words = 2 * 32;
  Checkpoint file;
  file.files = {{.name = "words"}, {.name = "scales"}, {.name = "biases"}};
  TensorRecord tensor;
  tensor.name = "lm_head.weight";
  tensor.dtype = Dtype::affine;
  tensor.bits = 4;
  tensor.group = 64;
  tensor.shape = {2, 64};
  tensor.parts = {{.file = 0, .range = {.offset = 0, .n_bytes = k_words}, .dtype = Dtype::affine},
                  {.file = 1, .range = {.offset = 0, .n_bytes = 4}, .dtype = Dtype::bf16},
                  {.file = 2, .range = {.offset = 0, .n_bytes = 4}, .dtype = Dtype::bf16}};
  const UploadRequest requests[] = {{.tensor = &tensor, .targets = {rows_at(0, 0, 2)}}};
  const auto steps = plan_uploads(requests, file);
  ASSERT_TRUE(steps) << steps.error().text;
  const auto refused = [&](const std::string& scales, const std::string& biases) {
    const std::string words(k_words, '\x33');
    const Bytes sources[] = {as_bytes(words), as_bytes(scales), as_bytes(biases)};
    QuantisedRows out;
    const auto applied = apply(steps->front(), sources, file.files, out);
    return applied ? std::string() : applied.error().text.substr(0, applied.error().text.find(" that"));
  };
  const std::string one("\x80\x3f\x80\x3f", 4);
  const std::string odd("\x80\x3f\xc0\x7f", 4);  // the second is not a number
  EXPECT_EQ(refused(one, one), "");
  EXPECT_EQ(refused(odd, one), "Tensor \"lm_head.scales\" in scales has a scale in row 1");
  EXPECT_EQ(refused(one, odd), "Tensor \"lm_head.biases\" in biases has a scale in row 1");
}

}  // namespace
}  // namespace ztvm::load
