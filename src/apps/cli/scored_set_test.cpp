#include "apps/cli/scored_set.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ztvm::app {
namespace {

Result<ScoredSet> changed(const std::vector<std::string>& changes, const ScoredSet& set = {}) {
  return change_set(set, changes);
}

TEST(ScoredSet, ChangesWhatIsNamed) {
  ScoredSet measured;
  measured.model.model = "smollm2";
  measured.model.kv = model::KvType::int8;
  const auto base = changed({"kv=float", "kernels=gpu f32", "rows=1"}, measured);
  ASSERT_TRUE(base) << base.error().text;
  EXPECT_EQ(base->model.model, "smollm2");
  EXPECT_EQ(describe(*base, {}), "gpu f32, kv float, 1 row a pass");
  const auto oracles = changed({"backend=reference", "kernels=cpu f32"}, measured);
  ASSERT_TRUE(oracles) << oracles.error().text;
  EXPECT_EQ(describe(*oracles, {}), "oracles of cpu f32, kv int8, rows of prefill");
}

TEST(ScoredSet, RefusesTheRest) {
  const auto refusal = [](const std::string& change) {
    const auto base = changed({change});
    return base ? "no error" : base.error().text;
  };
  EXPECT_EQ(refusal("kv=int4"), "KV cache type \"int4\" is not known, expected float or int8.");
  EXPECT_EQ(refusal("kv"), "KV cache type \"\" is not known, expected float or int8.");
  EXPECT_EQ(refusal("backend=cuda"), "Backend \"cuda\" is not known, expected gpu or reference.");
  EXPECT_EQ(refusal("rows=0"), "\"0\" is no number of rows.");
  EXPECT_EQ(refusal("rows=1x"), "\"1x\" is no number of rows.");
  EXPECT_EQ(refusal("seed=1"),
            "\"seed=1\" changes nothing that is known, expected kv=, kernels=, backend= or rows=.");
  EXPECT_EQ(refusal("kv=float"), "The base is what is measured, so there is nothing to compare.");
  EXPECT_NE(refusal("kernels=npu").find("Kernel set \"npu\" is not known"), std::string::npos);
}

}  // namespace
}  // namespace ztvm::app
