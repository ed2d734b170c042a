// Which rows of which tensors arrive where: matrices made of parts, units and halves, and what is refused.
#include "model/weight_plan.hpp"

#include <gtest/gtest.h>

#include "base/half.hpp"
#include "model_folder.hpp"

namespace ztvm::model {
namespace {

constexpr std::uint32_t k_dim = 32;
constexpr std::uint64_t k_no_limit = 1ull << 40;

using Rows = std::vector<int>;

class WeightPlanTest : public testing::Test {
 protected:
  WeightPlanTest() {
    checkpoint_.name = "x";
    checkpoint_.files = {{.name = "x.bin", .n_bytes = 0, .md5 = {}}};
  }

  // A tensor of rows of k_dim values, each 100 times the number of the tensor plus the number of the row.
  void add(const std::string& name, std::vector<std::uint64_t> shape, load::Dtype dtype = load::Dtype::f32) {
    std::string& bytes = folder_.files["x.bin"];
    load::TensorRecord tensor = {.name = name, .dtype = dtype, .shape = std::move(shape), .parts = {}};
    const std::uint64_t first = bytes.size();
    for (std::uint64_t i = 0; i < tensor.n_rows() * tensor.dim(); ++i) {
      const auto value = static_cast<float>(100 * checkpoint_.tensors.size() + i / tensor.dim());
      const std::uint16_t half = float_to_half(value);
      if (dtype == load::Dtype::f32) bytes.append(reinterpret_cast<const char*>(&value), 4);
      if (dtype == load::Dtype::f16) bytes.append(reinterpret_cast<const char*>(&half), 2);
    }
    tensor.parts = {{.file = 0, .range = {.offset = first, .n_bytes = bytes.size() - first}, .dtype = dtype}};
    checkpoint_.files[0].n_bytes = bytes.size();
    checkpoint_.tensors.push_back(std::move(tensor));
  }

  Result<WeightPlan> plan(const MatrixSpec& spec, std::uint64_t limit = k_no_limit) {
    WeightPlan::Builder builder(checkpoint_, limit, buffers_);
    handle_ = builder.matrix(spec);
    return builder.finish();
  }
  // The first value of each row, part by part.
  std::vector<Rows> parts(const MatrixSpec& spec, std::uint64_t limit = k_no_limit) {
    auto planned = plan(spec, limit);
    EXPECT_TRUE(planned) << planned.error().text;
    if (!planned) return {};
    auto slots = test::read_weights(folder_, checkpoint_, {planned->steps().begin(), planned->steps().end()});
    EXPECT_TRUE(slots) << slots.error().text;
    std::vector<Rows> result;
    std::uint32_t first_row = 0;
    for (const PlannedMatrix::Part& part : planned->planned(handle_).parts) {
      EXPECT_EQ(part.first_row, first_row);
      first_row += part.n_rows;
      const QuantLayout layout = {.kind = part.kind, .dim = k_dim};
      const std::string& words = slots->at(static_cast<std::uint32_t>(part.words));
      EXPECT_EQ(words.size(), part.n_rows * layout.words_bytes_per_row());
      EXPECT_LE(words.size(), limit);
      Rows& rows = result.emplace_back();
      std::vector<float> values(k_dim);
      for (std::uint32_t row = 0; row < part.n_rows; ++row) {
        const std::size_t row_bytes = layout.words_bytes_per_row();
        dequantise_row(part.kind, as_bytes(words).subspan(row * row_bytes, row_bytes), {}, values);
        rows.push_back(static_cast<int>(values[0]));
      }
    }
    EXPECT_EQ(first_row, planned->planned(handle_).rows);
    return result;
  }
  std::string refusal(const MatrixSpec& spec, std::uint64_t limit = k_no_limit) {
    const auto planned = plan(spec, limit);
    EXPECT_FALSE(planned);
    return planned ? std::string() : planned.error().text;
  }

  test::ModelFolder folder_;
  load::Checkpoint checkpoint_;
  Buffers buffers_;
  MatrixHandle handle_{};
};

TEST_F(WeightPlanTest, RowsOfATensorAreReordered) {
  // Two heads of [q, q | gate, gate], then k: all q, k, all gates.
  add("q", {8, k_dim});
  add("k", {2, k_dim});
  const std::vector<std::uint64_t> shape = {8, k_dim};
  const auto head = [&](std::uint64_t first) {
    return MatrixSource{.tensor = "q", .rows = 2, .first_row = first, .shape = shape};
  };
  const MatrixSpec spec = {.label = "qkv",
                           .dim = k_dim,
                           .sources = {head(0), head(4), {.tensor = "k", .rows = 2}, head(2), head(6)}};
  EXPECT_EQ(parts(spec), (std::vector<Rows>{{0, 1, 4, 5, 100, 101, 2, 3, 6, 7}}));
  EXPECT_EQ(parts(spec, 3 * k_dim * 4), (std::vector<Rows>{{0, 1, 4}, {5, 100, 101}, {2, 3, 6}, {7}}));
}

TEST_F(WeightPlanTest, EachRunOfOneKindIsAPart) {
  add("q", {2, k_dim});
  add("k", {2, k_dim});
  add("v", {3, k_dim}, load::Dtype::f16);
  const MatrixSpec spec = {
      .label = "qkv",
      .dim = k_dim,
      .sources = {{.tensor = "q", .rows = 2}, {.tensor = "k", .rows = 2}, {.tensor = "v", .rows = 3}}};
  EXPECT_EQ(parts(spec), (std::vector<Rows>{{0, 1, 100, 101}, {200, 201, 202}}));
  EXPECT_EQ(parts(spec, 3 * k_dim * 4), (std::vector<Rows>{{0, 1, 100}, {101}, {200, 201, 202}}));
}

TEST_F(WeightPlanTest, GateAndUpAreSplitTogether) {
  add("gate", {5, k_dim});
  add("up", {5, k_dim});
  add("both", {4, k_dim});
  add("half", {5, k_dim}, load::Dtype::f16);
  const MatrixSpec two = {.label = "gate and up",
                          .dim = k_dim,
                          .sources = {{.tensor = "gate", .rows = 5}, {.tensor = "up", .rows = 5}},
                          .gate_and_up = true};
  EXPECT_EQ(parts(two), (std::vector<Rows>{{0, 1, 2, 3, 4, 100, 101, 102, 103, 104}}));
  EXPECT_EQ(parts(two, 5 * k_dim * 4), (std::vector<Rows>{{0, 1, 100, 101}, {2, 3, 102, 103}, {4, 104}}));
  const MatrixSpec one = {
      .label = "gate and up", .dim = k_dim, .sources = {{.tensor = "both", .rows = 4}}, .gate_and_up = true};
  EXPECT_EQ(parts(one, 2 * k_dim * 4), (std::vector<Rows>{{200, 202}, {201, 203}}));
  MatrixSpec mixed = two;
  mixed.sources[1].tensor = "half";
  EXPECT_EQ(refusal(mixed),
            "Tensor \"half\" is F16, but \"gate\" is F32; gate and up need one type, in x.bin.");
}

TEST_F(WeightPlanTest, TwoKindsOfAffineAreToldByTheirBits) {
  for (const auto& [name, bits] : {std::pair("gate", 4u), {"up", 8u}}) {
    add(name, {2, k_dim}, load::Dtype::affine);
    checkpoint_.tensors.back().bits = bits;
    checkpoint_.tensors.back().group = 32;
  }
  MatrixSpec spec = {.label = "experts",
                     .dim = k_dim,
                     .sources = {{.tensor = "gate", .rows = 2}, {.tensor = "up", .rows = 2}},
                     .gate_and_up = true};
  const std::string types =
      "Tensor \"up\" is affine with 8 bits in groups of 32, but \"gate\" is affine with 4 bits in groups of "
      "32; ";
  EXPECT_EQ(refusal(spec), types + "gate and up need one type, in x.bin.");
  spec.gate_and_up = false;
  spec.unit_rows = 4;
  EXPECT_EQ(refusal(spec), types + "matrix \"experts\" needs one type within 4 rows, in x.bin.");
}

TEST_F(WeightPlanTest, UnitsOfExpertsStayTogether) {
  add("gate", {3, 2, k_dim});
  add("up", {3, 2, k_dim});
  add("half", {3, 2, k_dim}, load::Dtype::f16);
  const auto experts = [](const char* up) {
    MatrixSpec spec = {.label = "experts", .dim = k_dim, .sources = {}, .unit_rows = 4};
    for (std::uint64_t e = 0; e < 3; ++e) {
      for (const char* tensor : {"gate", up}) {
        spec.sources.push_back({.tensor = tensor, .rows = 2, .first_row = e * 2, .shape = {3, 2, k_dim}});
      }
    }
    return spec;
  };
  EXPECT_EQ(parts(experts("up")), (std::vector<Rows>{{0, 1, 100, 101, 2, 3, 102, 103, 4, 5, 104, 105}}));
  EXPECT_EQ(parts(experts("up"), 11 * k_dim * 4),
            (std::vector<Rows>{{0, 1, 100, 101, 2, 3, 102, 103}, {4, 5, 104, 105}}));
  EXPECT_EQ(refusal(experts("up"), 3 * k_dim * 4),
            "Matrix \"experts\" needs 512 bytes in one buffer for 4 rows that stay together, but the adapter "
            "binds at "
            "most 384.");
  EXPECT_EQ(refusal(experts("half")),
            "Tensor \"half\" is F16, but \"gate\" is F32; matrix \"experts\" needs one type within 4 rows, "
            "in x.bin.");
}

TEST_F(WeightPlanTest, HeadsToUnpermuteStayTogether) {
  add("q", {8, k_dim});
  const MatrixSpec spec = {
      .label = "q", .dim = k_dim, .sources = {{.tensor = "q", .rows = 8, .unpermute_head_dim = 4}}};
  EXPECT_EQ(parts(spec, 7 * k_dim * 4), (std::vector<Rows>{{0, 2, 1, 3}, {4, 6, 5, 7}}));
}

TEST_F(WeightPlanTest, VectorsAreFlat) {
  add("first", {1});
  add("norm", {k_dim});
  add("conv", {3, 1, 4}, load::Dtype::f16);
  WeightPlan::Builder builder(checkpoint_, k_no_limit, buffers_);
  builder.vector({.tensors = {"norm"}, .shape = {k_dim}});
  builder.vector({.tensors = {"conv"}, .shape = {3, 4}});
  const auto planned = builder.finish();
  ASSERT_TRUE(planned) << planned.error().text;
  const auto slots =
      test::read_weights(folder_, checkpoint_, {planned->steps().begin(), planned->steps().end()});
  ASSERT_TRUE(slots) << slots.error().text;
  EXPECT_EQ(slots->at(0).size(), k_dim * 4);
  ASSERT_EQ(slots->at(1).size(), 12u * 4);
  EXPECT_EQ(load_as<float>(as_bytes(slots->at(1)), 11 * 4), 202.0f);
}

TEST_F(WeightPlanTest, TheFirstErrorStays) {
  add("q", {4, k_dim});
  add("scale", {4, k_dim}, load::Dtype::q8_0);
  const auto error = [&](auto&& ask) {
    WeightPlan::Builder builder(checkpoint_, k_no_limit, buffers_);
    ask(builder);
    builder.vector({.tensors = {"also missing"}, .shape = {1}});
    const auto planned = builder.finish();
    return planned ? std::string("no error") : planned.error().text;
  };
  EXPECT_EQ(
      error([](auto& b) { b.matrix({.label = "k", .dim = k_dim, .sources = {{.tensor = "k", .rows = 4}}}); }),
      "x has no tensor \"k\", expected one of shape [4, 32].");
  EXPECT_EQ(
      error([](auto& b) { b.matrix({.label = "q", .dim = k_dim, .sources = {{.tensor = "q", .rows = 3}}}); }),
      "Tensor \"q\" has shape [4, 32], expected [3, 32], in x.bin.");
  EXPECT_EQ(error([](auto& b) { b.vector({.tensors = {"q"}, .shape = {32, 4}}); }),
            "Tensor \"q\" has shape [4, 32], expected [32, 4], in x.bin.");
  EXPECT_EQ(error([](auto& b) { b.vector({.tensors = {"scale"}, .shape = {4, 32}}); }),
            "Tensor \"scale\" is Q8_0, expected F32, F16 or BF16 of a vector, in x.bin.");
}

}  // namespace
}  // namespace ztvm::model
