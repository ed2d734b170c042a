// Every way an MLC folder can be wrong: the error's code, and that its sentence names file and tensor.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "damaged_folder.hpp"

namespace ztvm::load {
namespace {

using test::Damage;
using test::deep;
using test::k_html;
using test::k_huge;
using test::k_lfs;
using test::ModelFolder;

constexpr ErrorCode k_corrupt = ErrorCode::corrupt_file;

// An MLC folder: a matrix of 2 x 64 in two shards, and a norm.
struct MlcFolder {
  Json manifest;
  std::map<std::string, std::string> shards;

  MlcFolder() {
    manifest = {{"metadata", {{"ParamSize", 3}}}, {"records", Json::array()}};
    add_shard("params_shard_0.bin", {record("a.q_weight", {2, 8}, "uint32", 64)});
    add_shard("params_shard_1.bin",
              {record("norm.weight", {4}, "float32", 8), record("a.q_scale", {2, 2}, "float16", 8)});
  }
  static Json record(const char* name, std::vector<std::uint64_t> shape, const char* dtype,
                     std::uint64_t n_bytes) {
    return {
        {"name", name}, {"shape", shape}, {"dtype", dtype}, {"format", "f32-to-bf16"}, {"nbytes", n_bytes}};
  }
  void add_shard(const std::string& name, std::vector<Json> records) {
    std::uint64_t n_bytes = 0;
    for (Json& record : records) {
      record["byteOffset"] = n_bytes;
      n_bytes += record["nbytes"].get<std::uint64_t>();
    }
    shards[name] = std::string(n_bytes, '\x11');
    manifest["records"].push_back({{"dataPath", name},
                                   {"format", "raw-shard"},
                                   {"nbytes", n_bytes},
                                   {"records", records},
                                   {"md5sum", "00"}});
  }
  Json& shard(std::size_t index) { return manifest["records"][index]; }
  Json& tensor(std::size_t shard_index, std::size_t index) { return shard(shard_index)["records"][index]; }

  ModelFolder folder() const {
    ModelFolder folder{.files = shards};
    folder.files["ndarray-cache.json"] = manifest.dump();
    folder.files["mlc-chat-config.json"] = R"({"model_type":"phi3","quantization":"q4f16_1"})";
    folder.files["tokenizer.json"] = "{}";
    return folder;
  }
};

auto mlc(std::function<void(MlcFolder&)> change) { return test::damaged<MlcFolder>(std::move(change)); }
auto mlc_files(std::function<void(ModelFolder&)> change) {
  return test::damaged_files<MlcFolder>(std::move(change));
}

const Damage k_mlc_damages[] = {
    {"empty folder", ErrorCode::not_found, {"config.json"}, [] { return ModelFolder(); }},
    {"no manifest", ErrorCode::not_found, {"ndarray-cache.json", "tensor-cache.json"}, mlc_files([](auto& f) {
       f.files.erase("ndarray-cache.json");
     })},
    {"no tokenizer", ErrorCode::not_found, {"tokenizer.json"}, mlc_files([](auto& f) {
       f.files.erase("tokenizer.json");
     })},
    {"other quantisation",
     ErrorCode::unsupported,
     {"mlc-chat-config.json", "q3f16_1"},
     mlc_files([](auto& f) { f.files["mlc-chat-config.json"] = R"({"quantization":"q3f16_1"})"; })},
    {"manifest is html", k_corrupt, {"ndarray-cache.json", "HTML page"}, mlc_files([](auto& f) {
       f.files["ndarray-cache.json"] = k_html;
     })},
    {"manifest is lfs", k_corrupt, {"ndarray-cache.json", "Git LFS pointer"}, mlc_files([](auto& f) {
       f.files["ndarray-cache.json"] = k_lfs;
     })},
    {"manifest is zero",
     k_corrupt,
     {"ndarray-cache.json", "not downloaded completely"},
     mlc_files([](auto& f) { f.files["ndarray-cache.json"] = std::string(900, '\0'); })},
    {"manifest is cut", k_corrupt, {"ndarray-cache.json", "not valid JSON"}, mlc_files([](auto& f) {
       f.files["ndarray-cache.json"].resize(200);
     })},
    {"deep nesting", k_corrupt, {"ndarray-cache.json", "nests deeper"}, mlc_files([](auto& f) {
       f.files["ndarray-cache.json"] = deep(100000);
     })},
    {"key twice", k_corrupt, {"ndarray-cache.json", "twice"}, mlc_files([](auto& f) {
       f.files["ndarray-cache.json"] = R"({"records":[],"records":[]})";
     })},
    {"config key twice", k_corrupt, {"mlc-chat-config.json", "\"a\" twice"}, mlc_files([](auto& f) {
       f.files["mlc-chat-config.json"] = R"({"a":1,"a":2})";
     })},
    {"tokenizer is html", k_corrupt, {"tokenizer.json", "HTML page"}, mlc_files([](auto& f) {
       f.files["tokenizer.json"] = k_html;
     })},
    {"no records", k_corrupt, {"\"records\""}, mlc([](auto& m) { m.manifest.erase("records"); })},
    {"no tensors", k_corrupt, {"no tensor"}, mlc([](auto& m) { m.manifest["records"] = Json::array(); })},
    {"shard is a path", k_corrupt, {"../params"}, mlc([](auto& m) { m.shard(0)["dataPath"] = "../params"; })},
    {"shard is the tokenizer", k_corrupt, {"\"tokenizer.json\"", "name of weights"}, mlc([](auto& m) {
       m.shard(0)["dataPath"] = "tokenizer.json";
     })},
    {"md5 is no text", k_corrupt, {"params_shard_0.bin", "\"md5sum\""}, mlc([](auto& m) {
       m.shard(0)["md5sum"] = 5;
     })},
    {"shard twice", k_corrupt, {"params_shard_1.bin", "twice"}, mlc([](auto& m) {
       m.shard(0)["dataPath"] = "params_shard_1.bin";
     })},
    {"shard format", ErrorCode::unsupported, {"params_shard_0.bin", "zip"}, mlc([](auto& m) {
       m.shard(0)["format"] = "zip";
     })},
    {"shard length 2^63", k_corrupt, {"params_shard_0.bin", "9223372036854775808"}, mlc([](auto& m) {
       m.shard(0)["nbytes"] = k_huge;
     })},
    {"unknown dtype", ErrorCode::unsupported, {"\"norm.weight\"", "float8"}, mlc([](auto& m) {
       m.tensor(1, 0)["dtype"] = "float8";
     })},
    {"dtype is no text", k_corrupt, {"\"norm.weight\"", "\"dtype\""}, mlc([](auto& m) {
       m.tensor(1, 0)["dtype"] = 7;
     })},
    {"nbytes against shape", k_corrupt, {"\"norm.weight\"", "12 bytes", "[4]"}, mlc([](auto& m) {
       m.tensor(1, 0)["nbytes"] = 12;
     })},
    {"float16 has no short form", k_corrupt, {"\"a.q_scale\"", "4 bytes"}, mlc([](auto& m) {
       m.tensor(1, 1)["nbytes"] = 4;
     })},
    {"length 2^63", k_corrupt, {"\"norm.weight\"", "9223372036854775808"}, mlc([](auto& m) {
       m.tensor(1, 0)["nbytes"] = k_huge;
     })},
    {"offset 2^63", k_corrupt, {"\"norm.weight\"", "9223372036854775808"}, mlc([](auto& m) {
       m.tensor(1, 0)["byteOffset"] = k_huge;
     })},
    {"negative offset", k_corrupt, {"\"norm.weight\"", "-8"}, mlc([](auto& m) {
       m.tensor(1, 0)["byteOffset"] = -8;
     })},
    {"broken offset", k_corrupt, {"\"norm.weight\"", "1.5"}, mlc([](auto& m) {
       m.tensor(1, 0)["byteOffset"] = 1.5;
     })},
    {"shape wraps", k_corrupt, {"\"norm.weight\""}, mlc([](auto& m) {
       m.tensor(1, 0)["shape"] = {1ull << 32, 1ull << 32, 2};
     })},
    {"shape of 0", k_corrupt, {"\"norm.weight\"", "[0]"}, mlc([](auto& m) {
       m.tensor(1, 0)["shape"] = {0};
     })},
    {"many dimensions", k_corrupt, {"\"norm.weight\"", "at most 8"}, mlc([](auto& m) {
       m.tensor(1, 0)["shape"] = std::vector<int>(9, 1);
     })},
    {"offset beyond", k_corrupt, {"\"a.q_scale\"", "params_shard_1.bin", "truncated"}, mlc([](auto& m) {
       m.tensor(1, 1)["byteOffset"] = 9;
     })},
    {"overlap",
     k_corrupt,
     {"\"norm.weight\"", "\"a.q_scale\"", "overlap", "params_shard_1.bin"},
     mlc([](auto& m) { m.tensor(1, 1)["byteOffset"] = 7; })},
    {"tensor twice", k_corrupt, {"\"a.q_weight\"", "twice"}, mlc([](auto& m) {
       m.add_shard("c.bin", {MlcFolder::record("a.q_weight", {2, 8}, "uint32", 64)});
     })},
    {"matrix twice", k_corrupt, {"\"a.weight\"", "twice", "c.bin"}, mlc([](auto& m) {
       m.add_shard("c.bin", {MlcFolder::record("a.weight", {2}, "float16", 4)});
     })},
    {"words without scales", k_corrupt, {"\"b.q_weight\"", "\"b.q_scale\""}, mlc([](auto& m) {
       m.add_shard("c.bin", {MlcFolder::record("b.q_weight", {2, 8}, "uint32", 64)});
     })},
    {"scales without words", k_corrupt, {"\"b.q_scale\"", "\"b.q_weight\""}, mlc([](auto& m) {
       m.add_shard("c.bin", {MlcFolder::record("b.q_scale", {2, 2}, "float16", 8)});
     })},
    {"words alone", ErrorCode::unsupported, {"\"b\"", "uint32"}, mlc([](auto& m) {
       m.add_shard("c.bin", {MlcFolder::record("b", {2}, "uint32", 8)});
     })},
    {"misshapen pair", k_corrupt, {"\"a.q_weight\"", "[2, 8]", "[4, 1]"}, mlc([](auto& m) {
       m.tensor(1, 1)["shape"] = {4, 1};
     })},
};

TEST(MlcDamage, TheUndamagedFolderIsRight) {
  const auto mlc = test::read_model(MlcFolder().folder());
  ASSERT_TRUE(mlc) << mlc.error().text;
  const TensorRecord* matrix = mlc->checkpoint.find("a.weight");
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->shape, (std::vector<std::uint64_t>{2, 64}));
  EXPECT_EQ(mlc->checkpoint.find("norm.weight")->dtype, Dtype::bf16);
  EXPECT_EQ(mlc->checkpoint.files[0].md5, "00");
}

TEST(MlcDamage, TensorCacheIsTheOtherNameOfTheManifest) {
  ModelFolder folder = MlcFolder().folder();
  folder.files["tensor-cache.json"] = folder.files["ndarray-cache.json"];
  folder.files.erase("ndarray-cache.json");
  EXPECT_TRUE(test::read_model(folder));
}

TEST(MlcDamage, EachIsRefusedByName) { test::expect_refused(k_mlc_damages); }

TEST(MlcDamage, AFileLongerThanItsCapIsNotRead) {
  CheckpointReader reader = CheckpointReader::for_folder("x");
  const auto range = reader.wanted();
  ASSERT_TRUE(range && range->whole);
  const auto supplied = reader.supply({}, range->n_bytes + 1);
  ASSERT_FALSE(supplied);
  EXPECT_NE(supplied.error().text.find("expected at most"), std::string::npos) << supplied.error().text;
  EXPECT_FALSE(reader.wanted());
}

}  // namespace
}  // namespace ztvm::load
