#include "apps/download/repo_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/download/folder_record.hpp"
#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

using namespace std::string_view_literals;

TEST(PlainName, RefusesWhatLeavesTheFolderOrHides) {
  for (const std::string_view name : {"params_shard_0.bin"sv, "model-00001-of-00004.safetensors"sv,
                                      "a b.json"sv, "Phi-3 (q4).gguf"sv, "é.bin"sv}) {
    EXPECT_TRUE(is_plain_name(name)) << name;
  }
  for (const std::string_view name :
       {""sv, "."sv, ".."sv, "../a"sv, "a/b"sv, "/a"sv, "a\\b"sv, ".hidden"sv, ".zerotvm.json"sv, "a\nb"sv,
        "a\0b"sv, "a\x7F"sv, "\x1B[2J"sv, "a.part"sv, "a.part.journal"sv, "a.new"sv}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
  }
  EXPECT_FALSE(is_plain_name(std::string(201, 'a')));
}

TEST(RepoFiles, ReadsMlcManifests) {
  const auto list = read_mlc_shards(
      R"({"records":[{"dataPath":"a.bin","nbytes":5,"md5sum":"0123456789ABCDEF0123456789abcdef"},)"
      R"({"dataPath":"b.bin","nbytes":7}]})",
      "m");
  ASSERT_TRUE(list) << list.error().text;
  ASSERT_EQ(list->shards.size(), 2u);
  EXPECT_EQ(list->shards[0].name, "a.bin");
  EXPECT_EQ(list->shards[0].n_bytes, 5u);
  EXPECT_EQ(list->shards[0].md5, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(list->shards[1].md5, "");
  EXPECT_EQ(list->n_bytes, 12u);
}

TEST(RepoFiles, RefusesWrongMlcManifests) {
  const auto error_of = [](std::string_view text) {
    const auto list = read_mlc_shards(text, "the manifest");
    return list ? std::string("none") : list.error().text;
  };
  EXPECT_EQ(error_of("<html>"), "the manifest is an HTML page, expected JSON.");
  EXPECT_EQ(error_of("[]"), "the manifest has no shards in \"records\".");
  EXPECT_EQ(error_of(R"({"records":[]})"), "the manifest has no shards in \"records\".");
  EXPECT_EQ(error_of(R"({"records":[{"dataPath":"../x","nbytes":5}]})"),
            "the manifest names the file \"../x\", expected a plain name without folders.");
  EXPECT_EQ(error_of(R"({"records":[{"dataPath":"a\u001b","nbytes":5}]})"),
            "the manifest names the file \"a\\x1b\", expected a plain name without folders.");
  EXPECT_EQ(error_of(R"({"records":[{"dataPath":"a","nbytes":5},{"dataPath":"a","nbytes":5}]})"),
            "the manifest names the file \"a\" twice.");
  for (const char* name :
       {"tokenizer.json", "mlc-chat-config.json", "ndarray-cache.json", "chat_template.jinja"}) {
    EXPECT_EQ(
        error_of(fmt::format(R"({{"records":[{{"dataPath":"{}","nbytes":5}}]}})", name)),
        fmt::format("the manifest names the file \"{}\" as weights, expected none of a config, a tokenizer "
                    "or a manifest.",
                    name));
  }
  for (const char* n_bytes : {"-1", "1.5", "\"5\"", "9223372036854775808", "1e3"}) {
    EXPECT_NE(
        error_of(fmt::format(R"({{"records":[{{"dataPath":"a","nbytes":{}}}]}})", n_bytes)).find("no length"),
        std::string::npos)
        << n_bytes;
  }
  EXPECT_NE(error_of(R"({"records":[{"dataPath":"a","nbytes":5,"md5sum":"zz"}]})").find("wrong \"md5sum\""),
            std::string::npos);
  std::string huge = R"({"records":[)";
  for (const char* name : {"a", "b", "c"}) {
    huge +=
        fmt::format(R"({}{{"dataPath":"{}","nbytes":9223372036854775807}})", *name == 'a' ? "" : ",", name);
  }
  EXPECT_EQ(error_of(huge + "]}"), "the manifest gives lengths beyond 2^64.");
}

TEST(RepoFiles, ReadsIndexes) {
  const auto list = read_index_shards(
      R"({"metadata":{"total_size":123},"weight_map":{"x":"b.safetensors","y":"a.safetensors","z":"b.safetensors"}})",
      "m");
  ASSERT_TRUE(list) << list.error().text;
  ASSERT_EQ(list->shards.size(), 2u);
  EXPECT_EQ(list->shards[0].name, "a.safetensors");
  EXPECT_FALSE(list->shards[0].n_bytes);
  EXPECT_EQ(list->n_bytes, 123u);
  EXPECT_EQ(read_index_shards(R"({"weight_map":{"x":"a"}})", "m")->n_bytes, 0u);
}

TEST(RepoFiles, RefusesWrongIndexes) {
  for (const char* text : {"{}", "[]", R"({"weight_map":{}})", R"({"weight_map":[]})",
                           R"({"weight_map":{"x":1}})", R"({"weight_map":{"x":"../a"}})",
                           R"({"weight_map":{"x":"a/b"}})", R"({"weight_map":{"x":"config.json"}})"}) {
    EXPECT_FALSE(read_index_shards(text, "m")) << text;
  }
}

TEST(RepoFiles, ReadsRepositoryNames) {
  EXPECT_EQ(parse_repo("mlc-ai/Qwen3-4B-q4f16_1-MLC")->repo, "mlc-ai/Qwen3-4B-q4f16_1-MLC");
  const auto file = parse_repo("o/n/Some Model.Q4_K.gguf");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->repo, "o/n");
  EXPECT_EQ(file->file, "Some Model.Q4_K.gguf");
  for (const char* text : {"", "a", "a/", "/b", "a/b/", "a/b/c", "a/b/c/d.gguf", "../b", "a/..", "a b/c",
                           "a/b?c", "a/b#c", "a%2e/b", "https://a/b"}) {
    EXPECT_FALSE(parse_repo(text)) << text;
  }
}

TEST(RepoFiles, MakesUrls) {
  EXPECT_EQ(file_url("https://h", "o/n", "a-1.bin"), "https://h/o/n/resolve/main/a-1.bin");
  EXPECT_EQ(file_url("https://h", "o/n", "a b?#%.bin"), "https://h/o/n/resolve/main/a%20b%3F%23%25.bin");
  EXPECT_EQ(*parse_hub("http://localhost:80/x//"), "http://localhost:80/x");
  for (const char* text :
       {"", "h", "ftp://h", "https://", "https:///", "https://a b", "https://h?x", "file:///etc"}) {
    EXPECT_FALSE(parse_hub(text)) << text;
  }
}

TEST(FolderRecord, ComesBackAsItWas) {
  const TempFolder folder;
  EXPECT_FALSE(*read_record(folder.path()));
  FolderRecord record{.repo = "o/n", .hub = "https://h"};
  record.put({.name = "a.bin", .n_bytes = 5});
  record.put({.name = "b.bin"});
  record.put({.name = "a.bin", .n_bytes = 6, .sha256 = std::string(64, 'a')});
  ASSERT_TRUE(write_record(folder.path(), record));
  const auto read = read_record(folder.path());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->repo, "o/n");
  EXPECT_FALSE((*read)->complete);
  ASSERT_EQ((*read)->files.size(), 2u);
  EXPECT_EQ((*read)->find("a.bin")->n_bytes, 6u);
  EXPECT_EQ((*read)->find("a.bin")->sha256, std::string(64, 'a'));
  EXPECT_FALSE((*read)->find("b.bin")->n_bytes);
  EXPECT_TRUE(is_incomplete(folder.path()));
}

TEST(RepoFiles, RefusesAManifestWithAKeyTwice) {
  const auto mlc = read_mlc_shards(R"({"records":[{"dataPath":"a","nbytes":1,"nbytes":2}]})", "m.json");
  ASSERT_FALSE(mlc);
  EXPECT_EQ(mlc.error().text, "m.json has the key \"nbytes\" twice in one object.");
  EXPECT_FALSE(read_index_shards(R"({"weight_map":{"t":"a","t":"b"}})", "m.json"));
}

TEST(RepoFiles, RefusesNamesThatATerminalCouldObey) {
  for (const char* name : {"a\x1b[2J", "a\x7f", "a\xc2\x9b", "a\n", "../a", "/a", "a/b", "a\\b", ".a", ""}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
  }
  EXPECT_FALSE(is_plain_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_plain_name("gr\xc3\xbc\xc3\x9f.bin"));
}

TEST(FolderRecord, RefusesWhatItCannotTrust) {
  const TempFolder folder;
  const std::string head = R"({"version":1,"repo":"","hub":"","complete":true,"files":)";
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string(R"({"version":2})"), head + "1}",
        head + R"([{"name":"../a"}]})", head + R"([{"name":"a","bytes":-1}]})",
        head + R"([{"name":"a","sha256":"00"}]})"}) {
    folder.write(".zerotvm.json", text);
    const auto record = read_record(folder.path());
    ASSERT_FALSE(record) << text;
    EXPECT_NE(record.error().text.find(".zerotvm.json"), std::string::npos) << record.error().text;
  }
}

}  // namespace
}  // namespace ztvm::app
