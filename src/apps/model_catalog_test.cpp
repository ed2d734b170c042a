#include "apps/model_catalog.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(*found, wanted);
}

TEST(ModelCatalog, TakesFoldersAndFiles) {
  const TempFolder folder;
  const auto file = folder.write("some/x.gguf", "1");
  const std::vector<std::filesystem::path> no_roots;
  EXPECT_EQ(resolve_model(file.string(), no_roots).value(), file);
  EXPECT_EQ(resolve_model((folder.path() / "some").string(), no_roots).value(), file);
}

TEST(ModelCatalog, SaysWhatIsWrong) {
  const TempFolder folder;
  folder.write("known/x.gguf", "1");
  const std::vector roots = {folder.path()};
  const auto unknown = resolve_model("unknown", roots);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_NE(unknown.error().text.find("known aliases: known"), std::string::npos) << unknown.error().text;
  const auto no_model = resolve_model(folder.path().string(), roots);
  ASSERT_FALSE(no_model);
  EXPECT_NE(no_model.error().text.find("holds 0 .gguf files"), std::string::npos) << no_model.error().text;
}

}  // namespace
}  // namespace ztvm::app
