// Every way a safetensors folder can be wrong: the error's code, and that its sentence names file and tensor.
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

// An MLX folder: an affine matrix of 2 x 64 whose parts lie in two files, and a norm.
struct MlxFolder {
  std::map<std::string, Json> headers;
  std::map<std::string, std::string> data;
  Json index = {{"weight_map", Json::object()}};
  Json config = {{"model_type", "x"},
                 {"quantization", {{"group_size", 64}, {"bits", 4}, {"mode", "affine"}}}};

  MlxFolder() {
    add("a.safetensors", "m.a.weight", "U32", {2, 8}, 64);
    add("a.safetensors", "m.norm.weight", "BF16", {4}, 8);
    add("b.safetensors", "m.a.scales", "BF16", {2, 1}, 4);
    add("b.safetensors", "m.a.biases", "BF16", {2, 1}, 4);
    add("b.safetensors", "m.count", "I64", {}, 8);
  }
  void add(const std::string& file, const char* name, const char* dtype, std::vector<std::uint64_t> shape,
           std::uint64_t n_bytes) {
    const std::uint64_t first = data[file].size();
    headers[file][name] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {first, first + n_bytes}}};
    data[file] += std::string(n_bytes, '\x11');
    index["weight_map"][name] = file;
  }
  static std::string with_length(const std::string& header, std::uint64_t length) {
    return std::string(reinterpret_cast<const char*>(&length), 8) + header;
  }
  ModelFolder folder() const {
    ModelFolder folder;
    for (const auto& [file, header] : headers) {
      folder.files[file] = with_length(header.dump(), header.dump().size()) + data.at(file);
    }
    folder.files["model.safetensors.index.json"] = index.dump();
    folder.files["config.json"] = config.dump();
    folder.files["tokenizer.json"] = "{}";
    return folder;
  }
};

auto mlx(std::function<void(MlxFolder&)> change) { return test::damaged<MlxFolder>(std::move(change)); }
auto mlx_files(std::function<void(ModelFolder&)> change) {
  return test::damaged_files<MlxFolder>(std::move(change));
}

// The header of a.safetensors as text, wrapped with its length.
std::function<ModelFolder()> mlx_header(std::function<std::string(std::string)> change) {
  return mlx_files([change](ModelFolder& f) {
    const std::string header = change(MlxFolder().headers["a.safetensors"].dump());
    f.files["a.safetensors"] = MlxFolder::with_length(header, header.size()) + std::string(72, '\x11');
  });
}

const Damage k_mlx_damages[] = {
    {"no config", ErrorCode::not_found, {"config.json"}, mlx_files([](auto& f) {
       f.files.erase("config.json");
     })},
    {"no shard", ErrorCode::not_found, {"b.safetensors", "index"}, mlx_files([](auto& f) {
       f.files.erase("b.safetensors");
     })},
    {"no index and no single file", ErrorCode::not_found, {"model.safetensors"}, mlx_files([](auto& f) {
       f.files.erase("model.safetensors.index.json");
     })},
    {"empty shard", k_corrupt, {"a.safetensors", "0 bytes"}, mlx_files([](auto& f) {
       f.files["a.safetensors"] = "";
     })},
    {"shard is html", k_corrupt, {"a.safetensors", "HTML page"}, mlx_files([](auto& f) {
       f.files["a.safetensors"] = k_html;
     })},
    {"shard is lfs", k_corrupt, {"a.safetensors", "Git LFS pointer"}, mlx_files([](auto& f) {
       f.files["a.safetensors"] = k_lfs;
     })},
    {"shard is zero", k_corrupt, {"a.safetensors", "not downloaded completely"}, mlx_files([](auto& f) {
       f.files["a.safetensors"].assign(400, '\0');
     })},
    {"shard is cut", k_corrupt, {"a.safetensors", "\"m.norm.weight\"", "truncated"}, mlx_files([](auto& f) {
       f.files["a.safetensors"].pop_back();
     })},
    {"header is cut", k_corrupt, {"a.safetensors", "truncated"}, mlx_files([](auto& f) {
       f.files["a.safetensors"].resize(40);
     })},
    {"header length 2^63", k_corrupt, {"a.safetensors", "9223372036854775808"}, mlx_files([](auto& f) {
       f.files["a.safetensors"] = MlxFolder::with_length("{}", k_huge);
     })},
    {"header length wraps", k_corrupt, {"a.safetensors", "18446744073709551615"}, mlx_files([](auto& f) {
       f.files["a.safetensors"] = MlxFolder::with_length("{}", ~0ull);
     })},
    {"header is no JSON", k_corrupt, {"a.safetensors", "not valid JSON"}, mlx_header([](auto) {
       return "{a:1}   ";
     })},
    {"header is an array", k_corrupt, {"a.safetensors", "array"}, mlx_header([](auto) {
       return "[1, 2]  ";
     })},
    {"deep nesting", k_corrupt, {"a.safetensors", "nests deeper"}, mlx_header([](auto) {
       return deep(100000);
     })},
    {"name twice in a file",
     k_corrupt,
     {"a.safetensors", "\"m.a.weight\"", "twice"},
     mlx_header([](std::string h) { return h.substr(0, h.size() - 1) + R"(,"m.a.weight":{}})"; })},
    {"name twice in two files", k_corrupt, {"\"m.norm.weight\"", "twice", "b.safetensors"}, mlx([](auto& m) {
       m.headers["b.safetensors"]["m.norm.weight"] = {
           {"dtype", "BF16"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
     })},
    {"no dtype", k_corrupt, {"\"m.norm.weight\"", "\"dtype\""}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"].erase("dtype");
     })},
    {"unknown dtype", k_corrupt, {"\"m.norm.weight\"", "BF17"}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"]["dtype"] = "BF17";
     })},
    {"shape against bytes", k_corrupt, {"\"m.norm.weight\"", "8 bytes", "[5]"}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"]["shape"] = {5};
     })},
    {"shape wraps", k_corrupt, {"\"m.norm.weight\""}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"]["shape"] = {1ull << 62, 4};
     })},
    {"offset beyond", k_corrupt, {"\"m.norm.weight\"", "a.safetensors"}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"]["data_offsets"] = {65, 73};
     })},
    {"offset 2^63", k_corrupt, {"\"m.norm.weight\"", "9223372036854775808"}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"]["data_offsets"] = {k_huge, k_huge + 8};
     })},
    {"offsets backwards", k_corrupt, {"\"m.norm.weight\"", "[72, 64]"}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"]["data_offsets"] = {72, 64};
     })},
    {"three offsets", k_corrupt, {"\"m.norm.weight\"", "data_offsets"}, mlx([](auto& m) {
       m.headers["a.safetensors"]["m.norm.weight"]["data_offsets"] = {64, 68, 72};
     })},
    {"overlap",
     k_corrupt,
     {"\"m.norm.weight\"", "\"m.a.weight\"", "overlap", "a.safetensors"},
     mlx([](auto& m) { m.headers["a.safetensors"]["m.norm.weight"]["data_offsets"] = {63, 71}; })},
    {"index names another file",
     k_corrupt,
     {"index.json", "\"m.norm.weight\"", "b.safetensors"},
     mlx([](auto& m) { m.index["weight_map"]["m.norm.weight"] = "b.safetensors"; })},
    {"index names a missing tensor",
     k_corrupt,
     {"index.json", "\"m.b.weight\"", "not there"},
     mlx([](auto& m) { m.index["weight_map"]["m.b.weight"] = "a.safetensors"; })},
    {"index names a path", k_corrupt, {"index.json", "\"m.b.weight\"", "/etc/passwd"}, mlx([](auto& m) {
       m.index["weight_map"]["m.b.weight"] = "/etc/passwd";
     })},
    {"index names no file", k_corrupt, {"index.json", "\"m.b.weight\"", "number"}, mlx([](auto& m) {
       m.index["weight_map"]["m.b.weight"] = 3;
     })},
    {"empty index", k_corrupt, {"index.json", "no tensor"}, mlx([](auto& m) {
       m.index["weight_map"] = Json::object();
     })},
    {"no scales", k_corrupt, {"\"m.b.weight\"", "\"m.b.scales\""}, mlx([](auto& m) {
       m.add("c.safetensors", "m.b.weight", "U32", {2, 8}, 64);
     })},
    {"no biases", k_corrupt, {"\"m.b.weight\"", "\"m.b.biases\""}, mlx([](auto& m) {
       m.add("c.safetensors", "m.b.weight", "U32", {2, 8}, 64);
       m.add("c.safetensors", "m.b.scales", "BF16", {2, 1}, 4);
     })},
    {"scales without words", k_corrupt, {"\"m.b.scales\"", "\"m.b.weight\""}, mlx([](auto& m) {
       m.add("c.safetensors", "m.b.scales", "BF16", {2, 1}, 4);
     })},
    {"not quantised by config", k_corrupt, {"\"m.a.weight\"", "config.json"}, mlx([](auto& m) {
       m.config.erase("quantization");
     })},
    {"module not quantised", k_corrupt, {"\"m.a.weight\"", "config.json"}, mlx([](auto& m) {
       m.config["quantization"]["m.a"] = false;
     })},
    {"other bits", k_corrupt, {"\"m.a.weight\"", "[2, 8]", "k*8/32"}, mlx([](auto& m) {
       m.config["quantization"]["m.a"] = {{"bits", 8}};
     })},
    {"other group", k_corrupt, {"\"m.a.weight\"", "k/32"}, mlx([](auto& m) {
       m.config["quantization"]["group_size"] = 32;
     })},
    {"mode", ErrorCode::unsupported, {"config.json", "mxfp4"}, mlx([](auto& m) {
       m.config["quantization"]["mode"] = "mxfp4";
     })},
    {"bits 7", ErrorCode::unsupported, {"config.json", "\"m.a\"", "7 bits"}, mlx([](auto& m) {
       m.config["quantization"]["m.a"] = {{"bits", 7}};
     })},
    {"bits are text", k_corrupt, {"config.json", "\"bits\""}, mlx([](auto& m) {
       m.config["quantization"]["bits"] = "4";
     })},
    {"scales are whole numbers", k_corrupt, {"\"m.a.weight\"", "I16"}, mlx([](auto& m) {
       m.headers["b.safetensors"]["m.a.scales"]["dtype"] = "I16";
     })},
    {"config nests", k_corrupt, {"config.json", "nests deeper"}, mlx_files([](auto& f) {
       f.files["config.json"] = deep(65);
     })},
};

TEST(SafetensorsDamage, TheUndamagedFolderIsRight) {
  const auto mlx = test::read_model(MlxFolder().folder());
  ASSERT_TRUE(mlx) << mlx.error().text;
  const TensorRecord* matrix = mlx->checkpoint.find("m.a.weight");
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->shape, (std::vector<std::uint64_t>{2, 64}));
  EXPECT_EQ(matrix->parts[0].file, 0u);
  EXPECT_EQ(matrix->parts[2].file, 1u);
  const auto skipped = mlx->checkpoint.require("m.count", std::array<std::uint64_t, 1>{1});
  ASSERT_FALSE(skipped);
  EXPECT_EQ(skipped.error().text,
            "Tensor \"m.count\" has the type I64, which no kernel reads, in b.safetensors.");
}

TEST(SafetensorsDamage, OneFileNeedsNoIndex) {
  ModelFolder folder = MlxFolder().folder();
  MlxFolder single;
  single.headers["a.safetensors"].erase("m.a.weight");
  folder.files["model.safetensors"] = single.folder().files["a.safetensors"];
  folder.files.erase("model.safetensors.index.json");
  const auto model = test::read_model(folder);
  ASSERT_TRUE(model) << model.error().text;
  EXPECT_EQ(model->checkpoint.tensors.size(), 1u);
}

TEST(SafetensorsDamage, EachIsRefusedByName) { test::expect_refused(k_mlx_damages); }

TEST(SafetensorsDamage, EveryFlippedHeaderByteIsSurvived) {
  const ModelFolder folder = MlxFolder().folder();
  const std::size_t n_header_bytes = 8 + MlxFolder().headers["a.safetensors"].dump().size();
  for (std::size_t at = 0; at < n_header_bytes; ++at) {
    for (const int flip : {0x01, 0x10, 0x80}) {
      ModelFolder damaged = folder;
      char& byte = damaged.files["a.safetensors"][at];
      byte = static_cast<char>(byte ^ flip);
      const auto model = test::read_model(damaged);
      if (!model) EXPECT_TRUE(model.error().text.ends_with("."));
    }
  }
}

}  // namespace
}  // namespace ztvm::load
