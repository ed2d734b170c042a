// What a stream of weights refuses, on a tiny MLC model and one tensor in three files.
#include "load/weight_stream.hpp"

#include <gtest/gtest.h>

#include "load/transform.hpp"
#include "model_folder.hpp"

namespace ztvm::load {
namespace {

using test::ModelFolder;

constexpr const char* k_shard = "params_shard_0.bin";  // lm_head's words alone

// Every tensor of the model, each with slots of its own.
std::vector<UploadStep> all_steps(const Checkpoint& checkpoint) {
  std::vector<UploadRequest> requests;
  for (const TensorRecord& tensor : checkpoint.tensors) {
    const auto slot = static_cast<std::uint32_t>(2 * requests.size());
    const bool flatten = tensor.shape.size() == 1;
    requests.push_back({.tensor = &tensor,
                        .flatten = flatten,
                        .targets = {{.words_slot = slot,
                                     .scales_slot = slot + 1,
                                     .first_row = 0,
                                     .n_rows = flatten ? 1 : tensor.n_rows()}}});
  }
  return plan_uploads(requests, checkpoint, 4096).value();
}

class WeightStreamOfPhi3 : public testing::Test {
 protected:
  ModelFolder folder_ = ModelFolder::open("tests/golden/phi3/model");
  Checkpoint checkpoint_ = test::read_model(folder_).value().checkpoint;

  // Writes over the first bytes of a tensor's part.
  void fill(const TensorPart& part, std::uint64_t n_bytes, char byte) {
    std::fill_n(folder_.files[checkpoint_.files[part.file].name].begin() + part.range.offset, n_bytes, byte);
  }
  // The sentence with which the damaged folder is refused.
  std::string refusal() {
    const auto read = test::read_weights(folder_, checkpoint_, all_steps(checkpoint_));
    EXPECT_FALSE(read);
    if (read) return {};
    EXPECT_EQ(read.error().code, ErrorCode::corrupt_file);
    return read.error().text;
  }
};

TEST_F(WeightStreamOfPhi3, CountsItsBytes) {
  WeightStream stream(all_steps(checkpoint_), checkpoint_.files);
  std::uint64_t n_bytes = 0;
  for (const CheckpointFile& file : checkpoint_.files) n_bytes += file.n_bytes;
  EXPECT_EQ(stream.n_bytes(), n_bytes);
  while (const auto range = stream.wanted()) {
    ASSERT_TRUE(stream.supply(folder_.read(*range), folder_.files.at(range->file).size()));
  }
  EXPECT_EQ(stream.n_bytes_done(), n_bytes);
}

TEST_F(WeightStreamOfPhi3, ATruncatedShardIsRefused) {
  folder_.files[k_shard].resize(61000);
  EXPECT_EQ(refusal(),
            "params_shard_0.bin, which should hold tensor \"lm_head.weight\", has 61000 bytes, expected "
            "61824; it is "
            "truncated.");
}

TEST_F(WeightStreamOfPhi3, AMissingShardIsToldWithItsTensor) {
  folder_.files.erase(k_shard);
  const auto read = test::read_weights(folder_, checkpoint_, all_steps(checkpoint_));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text,
            "There is no file params_shard_0.bin, which should hold tensor \"lm_head.weight\".");
}

TEST_F(WeightStreamOfPhi3, AnotherFileIsRefused) {
  folder_.files[k_shard] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 61824\n";
  EXPECT_NE(
      refusal().find("params_shard_0.bin, which should hold tensor \"lm_head.weight\", is a Git LFS pointer"),
      std::string::npos);
  folder_.files[k_shard] = "<html>404</html>";
  EXPECT_NE(refusal().find("is an HTML page"), std::string::npos);
  folder_.files[k_shard] = std::string(61825, 'x');
  EXPECT_NE(refusal().find("it is another file"), std::string::npos);
}

TEST_F(WeightStreamOfPhi3, EachZeroFilledShardIsRefused) {
  const ModelFolder whole = folder_;
  for (const CheckpointFile& file : checkpoint_.files) {
    folder_ = whole;
    folder_.files[file.name].assign(file.n_bytes, '\0');
    const std::string text = refusal();
    EXPECT_NE(text.find(".weight\" has only zeros in the "), std::string::npos) << text;
    EXPECT_NE(text.find(" in " + file.name + "; it was not downloaded completely."), std::string::npos)
        << text;
  }
}

TEST_F(WeightStreamOfPhi3, EachPartOfATensorThatIsAllZeroIsRefused) {
  const ModelFolder whole = folder_;
  for (const TensorRecord& tensor : checkpoint_.tensors) {
    for (const TensorPart& part : tensor.parts) {
      folder_ = whole;
      fill(part, part.range.n_bytes, '\0');
      const std::string text = refusal();
      EXPECT_TRUE(text.starts_with("Tensor \"" + tensor.name + "\" has only zeros in the ")) << text;
    }
  }
}

TEST_F(WeightStreamOfPhi3, AHoleIsRefusedAndRowsThatAreNotUsedAreKept) {
  const TensorRecord& head = *checkpoint_.find("lm_head.weight");
  const ModelFolder whole = folder_;
  fill(head.parts[0], 50000, '\0');
  EXPECT_EQ(
      refusal(),
      "Tensor \"lm_head.weight\" has a hole of 50000 zero bytes at offset 0 of params_shard_0.bin; it was "
      "not downloaded completely.");
  folder_ = whole;
  fill(head.parts[0], 600 * 96, '\0');
  fill(head.parts[1], 600 * 12, '\0');
  EXPECT_TRUE(test::read_weights(folder_, checkpoint_, all_steps(checkpoint_)));
}

TEST_F(WeightStreamOfPhi3, AVectorThatMayBeZeroIsKept) {
  const TensorRecord& norm = *checkpoint_.find("transformer.norm.weight");
  fill(norm.parts[0], norm.n_bytes(), '\0');
  UploadRequest request = {.tensor = &norm, .flatten = true, .may_be_zero = true, .targets = {{.n_rows = 1}}};
  EXPECT_TRUE(test::read_weights(folder_, checkpoint_, plan_uploads({&request, 1}, checkpoint_).value()));
  request.may_be_zero = false;
  EXPECT_FALSE(test::read_weights(folder_, checkpoint_, plan_uploads({&request, 1}, checkpoint_).value()));
}

TEST_F(WeightStreamOfPhi3, AVectorThatIsMostlyZeroIsRefused) {
  const TensorRecord& norm = *checkpoint_.find("transformer.norm.weight");
  const std::uint64_t n_values = norm.n_bytes() / 2;
  ASSERT_GE(n_values, 64u);
  fill(norm.parts[0], n_values / 2 * 2, '\0');
  EXPECT_TRUE(test::read_weights(folder_, checkpoint_, all_steps(checkpoint_)));
  fill(norm.parts[0], (n_values / 2 + 1) * 2, '\0');
  EXPECT_EQ(refusal(),
            "Tensor \"transformer.norm.weight\" in " + checkpoint_.file_of(norm) +
                " has more zeros than a vector of weights can have; it was not downloaded completely.");
}

TEST_F(WeightStreamOfPhi3, AValueThatIsNoNumberIsToldWithItsTensor) {
  const TensorRecord& norm = *checkpoint_.find("transformer.norm.weight");
  fill(norm.parts[0], 2, '\x7E');  // an f16 that is not a number
  EXPECT_EQ(refusal(), "Tensor \"transformer.norm.weight\" in " + checkpoint_.file_of(norm) +
                           " has a value that is infinite or not a number.");
}

TEST_F(WeightStreamOfPhi3, ARowRangeStartsInTheMiddle) {
  const TensorRecord* tensor = checkpoint_.find("lm_head.weight");
  const auto rows = [&](std::uint64_t first, std::uint64_t n) {
    const UploadRequest request = {
        .tensor = tensor,
        .first_row = first,
        .targets = {{.words_slot = 0, .scales_slot = 1, .first_row = 0, .n_rows = n}}};
    return test::read_weights(folder_, checkpoint_, plan_uploads({&request, 1}, checkpoint_, 1000).value())
        .value();
  };
  auto all = rows(0, 644);
  auto some = rows(600, 40);
  EXPECT_EQ(some[0], all[0].substr(600 * 96, 40 * 96));
  EXPECT_EQ(some[1], all[1].substr(600 * 24, 40 * 24));
}

}  // namespace
}  // namespace ztvm::load
