#include "apps/model_catalog.hpp"

#include <gtest/gtest.h>

#include "apps/download/folder_record.hpp"
#include "apps/download/repo_files.hpp"
#include "apps/known_models.hpp"
#include "temp_folder.hpp"

namespace ztvm::app {
namespace {

TEST(ModelCatalog, ListsFoldersWithOneModel) {
  const TempFolder folder;
  folder.write("b/one.gguf", "12345");
  folder.write("a/two.Q4_1.gguf", "123");
  folder.write("several/one.gguf", "1");
  folder.write("several/two.gguf", "1");
  folder.write("none/readme.txt", "1");
  folder.write(".hidden/one.gguf", "1");
  const auto models = list_models(std::vector{folder.path()});
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].alias, "a");
  EXPECT_EQ(models[0].name, "two.Q4_1");
  EXPECT_EQ(models[1].alias, "b");
  EXPECT_EQ(models[1].n_bytes, 5u);
}

TEST(ModelCatalog, EarlierRootWins) {
  const TempFolder first;
  const TempFolder second;
  const auto wanted = first.write("m/x.gguf", "1");
  second.write("m/y.gguf", "1");
  const auto found = resolve_model("m", std::vector{first.path(), second.path()});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, wanted);
}

TEST(ModelCatalog, TakesFoldersAndFiles) {
  const TempFolder folder;
  const auto file = folder.write("some/x.gguf", "1");
  const std::vector<std::filesystem::path> no_roots;
  EXPECT_EQ(resolve_model(file.string(), no_roots).value().path, file);
  EXPECT_EQ(resolve_model((folder.path() / "some").string(), no_roots).value().path, file);
}

TEST(ModelCatalog, KnowsModelFolders) {
  const TempFolder folder;
  folder.write("phi3/mlc-chat-config.json", "{}");
  folder.write("phi3/params_shard_0.bin", "12345678");
  folder.write("phi3/params_shard_1.bin.part", "123");
  folder.write("phi3/.zerotvm.json", "not looked at by size");
  folder.write("mine/config.json", "{}");
  folder.write("mine/model.safetensors", "123");
  folder.write("only-config/config.json", "{}");
  const std::vector roots = {folder.path()};
  const auto models = list_models(roots);
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].alias, "mine");
  EXPECT_EQ(models[0].n_bytes, 5u);
  EXPECT_EQ(models[1].name, "Phi-3-mini-4k-instruct");
  EXPECT_EQ(models[1].n_bytes, 10u);
  EXPECT_TRUE(models[1].is_folder);
  const auto found = resolve_model("phi3", roots);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_folder);
  EXPECT_EQ(found->path, folder.path() / "phi3");
  EXPECT_TRUE(resolve_model((folder.path() / "mine").string(), {})->is_folder);
  EXPECT_FALSE(resolve_model("only-config", roots));
}

TEST(ModelCatalog, LeavesUnfinishedDownloadsOut) {
  const TempFolder folder;
  folder.write("qwen3/mlc-chat-config.json", "{}");
  ASSERT_TRUE(
      write_record(folder.path() / "qwen3", {.repo = "mlc-ai/Qwen3-4B-q4f16_1-MLC", .hub = "http://h"}));
  const std::vector roots = {folder.path()};
  EXPECT_TRUE(list_models(roots).empty());
  for (const std::string& name : {std::string("qwen3"), (folder.path() / "qwen3").string()}) {
    const auto found = resolve_model(name, roots);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().text.find("has not ended; \"zerotvm download mlc-ai/Qwen3-4B-q4f16_1-MLC --to "),
              std::string::npos)
        << found.error().text;
  }
}

TEST(ModelCatalog, NamesTheGgufOfAnUnfinishedDownload) {
  const TempFolder folder;
  folder.write("m/x.txt", "");
  ASSERT_TRUE(write_record(folder.path() / "m",
                           {.repo = "o/n", .hub = "http://h", .files = {{.name = "m.Q4.gguf"}}}));
  const auto found = resolve_model("m", std::vector{folder.path()});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().text.find("\"zerotvm download o/n/m.Q4.gguf --to "), std::string::npos)
      << found.error().text;
}

TEST(ModelCatalog, AProjectorOfImagesIsNoModel) {
  const TempFolder folder;
  folder.write("mlx/config.json", "{}");
  folder.write("mlx/model.safetensors", "1");
  folder.write("mlx/mmproj-x.gguf", "1");
  folder.write("mlc/mlc-chat-config.json", "{}");
  folder.write("mlc/projector.gguf", "1");
  const auto gguf = folder.write("gguf/x.gguf", "1");
  folder.write("gguf/mmproj-x.gguf", "1");
  const std::vector roots = {folder.path()};
  EXPECT_TRUE(resolve_model("mlx", roots)->is_folder);
  EXPECT_TRUE(resolve_model("mlc", roots)->is_folder);
  EXPECT_EQ(resolve_model("gguf", roots)->path, gguf);
}

TEST(ModelCatalog, NamesTheCommandThatFetchesAKnownModel) {
  const TempFolder folder;
  const auto found = resolve_model("qwen36q3", std::vector{folder.path()});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_NE(found.error().text.find("run \"zerotvm download qwen36q3\" first (16.4 GB)"), std::string::npos)
      << found.error().text;
}

TEST(ModelCatalog, DownloadsGoToTheFirstRootThatExists) {
  const TempFolder folder;
  const auto none = folder.path() / "none";
  EXPECT_EQ(download_root(std::vector{none, folder.path()}), folder.path());
  EXPECT_EQ(download_root(std::vector{none}), none);
}

TEST(KnownModels, HaveReposThatCanBeAskedFor) {
  const auto models = known_models();
  std::vector<std::string> aliases;
  for (const KnownModel& model : models) {
    aliases.push_back(model.alias);
    EXPECT_GT(model.n_bytes, 0u);
    if (model.alias != "smollm2") {
      EXPECT_TRUE(parse_repo(model.repo)) << model.repo;
    }
  }
  EXPECT_EQ(aliases, (std::vector<std::string>{"smollm2", "phi3", "qwen3", "qwen35", "qwen36", "qwen36q3"}));
  EXPECT_FALSE(find_known_model("nothing"));
}

TEST(ModelCatalog, SaysWhatIsWrong) {
  const TempFolder folder;
  folder.write("known/x.gguf", "1");
  const std::vector roots = {folder.path()};
  const auto unknown = resolve_model("unknown", roots);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_NE(
      unknown.error().text.find("known aliases: known, smollm2, phi3, qwen3, qwen35, qwen36, qwen36q3 ("),
      std::string::npos)
      << unknown.error().text;
  const auto no_model = resolve_model(folder.path().string(), roots);
  ASSERT_FALSE(no_model);
  EXPECT_NE(no_model.error().text.find("holds 0 .gguf files"), std::string::npos) << no_model.error().text;
}

}  // namespace
}  // namespace ztvm::app
