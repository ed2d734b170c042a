// Which stretches of zeros are holes of a download, and which a trained model may have.
#include "load/zero_holes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ztvm::load {
namespace {

constexpr std::uint32_t k_rows = 100;
constexpr std::uint64_t k_row_bytes = 128;
constexpr std::uint64_t k_file_offset = 77;  // of the first row

struct Matrix {
  std::string words = std::string(k_rows * k_row_bytes, '\x33');
  std::string scales;  // empty: within the words

  void clear_words(std::uint64_t first, std::uint64_t last) {
    std::fill(words.begin() + first, words.begin() + last, '\0');
  }
  // The hole that is seen when the rows come in steps of `rows_per_step`.
  ZeroHoles::Hole hole(std::uint32_t rows_per_step = 7) const {
    ZeroHoles holes;
    for (std::uint32_t row = 0; row < k_rows; row += rows_per_step) {
      const std::uint32_t n_rows = std::min(rows_per_step, k_rows - row);
      UploadStep step = {.tensor = "m", .sources = {}, .n_rows = n_rows};
      std::vector<Bytes> sources;
      const auto add = [&](const std::string& bytes, std::uint64_t row_bytes, Dtype dtype) {
        sources.push_back(as_bytes(bytes).subspan(row * row_bytes, n_rows * row_bytes));
        step.sources.push_back(
            {.file = 0,
             .range = {.offset = k_file_offset + row * row_bytes, .n_bytes = sources.back().size()},
             .dtype = dtype});
      };
      add(words, k_row_bytes, Dtype::bf16);
      if (!scales.empty()) add(scales, scales.size() / k_rows, Dtype::f16);
      holes.see(step, sources);
    }
    holes.end_tensor();
    return holes.hole();
  }
};

TEST(ZeroHoles, WhatIsWrittenHasNone) { EXPECT_EQ(Matrix().hole().n_bytes, 0u); }

TEST(ZeroHoles, WholeRowsOfZerosArePadding) {
  Matrix matrix;
  matrix.clear_words(30 * k_row_bytes, 90 * k_row_bytes);
  EXPECT_EQ(matrix.hole().n_bytes, 0u);
  matrix.clear_words(30 * k_row_bytes, k_rows * k_row_bytes);
  EXPECT_EQ(matrix.hole().n_bytes, 0u);
}

TEST(ZeroHoles, AHoleBeginsOrEndsWithinARow) {
  Matrix tail;
  tail.clear_words(30 * k_row_bytes + 64, k_rows * k_row_bytes);
  EXPECT_EQ(tail.hole().offset, k_file_offset + 30 * k_row_bytes + 64);
  EXPECT_EQ(tail.hole().n_bytes, 70 * k_row_bytes - 64);
  Matrix middle;
  middle.clear_words(30 * k_row_bytes, 70 * k_row_bytes + 100);
  for (const std::uint32_t rows_per_step : {1u, 7u, 100u}) {
    EXPECT_EQ(middle.hole(rows_per_step).offset, k_file_offset + 30 * k_row_bytes);
    EXPECT_EQ(middle.hole(rows_per_step).n_bytes, 40 * k_row_bytes + 100);
  }
}

TEST(ZeroHoles, FewZerosAreNone) {
  Matrix by_chance;  // the last numbers of the row before the padding
  by_chance.clear_words(30 * k_row_bytes - 8, k_rows * k_row_bytes);
  EXPECT_EQ(by_chance.hole().n_bytes, 0u);
  Matrix below_a_page;
  below_a_page.clear_words(30 * k_row_bytes + 64, 60 * k_row_bytes);
  EXPECT_EQ(below_a_page.hole().n_bytes, 0u);
}

TEST(ZeroHoles, ScalesApartTellPaddingFromAHole) {
  Matrix matrix;
  matrix.scales = std::string(k_rows * 8, '\x2C');
  matrix.clear_words(30 * k_row_bytes, 90 * k_row_bytes);
  EXPECT_EQ(matrix.hole().n_bytes, 60 * k_row_bytes);
  Matrix small;
  small.scales = matrix.scales;
  small.clear_words(30 * k_row_bytes, 37 * k_row_bytes);
  EXPECT_EQ(small.hole().n_bytes, 0u);
  small.clear_words(37 * k_row_bytes, 38 * k_row_bytes);
  EXPECT_EQ(small.hole().n_bytes, 8 * k_row_bytes);
  for (std::size_t i = 30 * 8; i < 90 * 8; ++i) matrix.scales[i] = i % 2 == 0 ? '\0' : '\x80';  // 0 and -0
  EXPECT_EQ(matrix.hole().n_bytes, 0u);
}

}  // namespace
}  // namespace ztvm::load
