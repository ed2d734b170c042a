#include "engine/tuning_file.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace ztvm::engine {
namespace {

const TuningKey k_key = {.adapter = "GPU", .driver = "1.0", .compiler = "naga", .kernels = "gpu f32"};

gpu::Tuning some_tuning() {
  return {
      {"matmul",
       {.form = "b", .own = "a", .times = {{"a", 2.5}, {"b", 2.0}}, .wrong = {{"c", "Op \"qkv\" differs."}}}},
      {"attention", {.form = "a", .own = "a", .times = {{"a", 10.0}}, .wrong = {}}}};
}

TEST(TuningFile, ReadsWhatItWrote) {
  EXPECT_EQ(read_tuning(write_tuning(k_key, some_tuning()), k_key), some_tuning());
}

TEST(TuningFile, MeasurementsOfAnythingElseDoNotCount) {
  const std::string text = write_tuning(k_key, some_tuning());
  for (std::string TuningKey::* field :
       {&TuningKey::adapter, &TuningKey::driver, &TuningKey::compiler, &TuningKey::kernels}) {
    TuningKey other = k_key;
    other.*field += " II";
    EXPECT_TRUE(read_tuning(text, other).empty());
  }
  Json other_shaders = Json::parse(text);
  other_shaders["shaders"] = "0";
  EXPECT_TRUE(read_tuning(other_shaders.dump(), k_key).empty());
}

TEST(TuningFile, DamageIsNoTuning) {
  const std::string text = write_tuning(k_key, some_tuning());
  for (const std::string& damaged :
       {std::string(), std::string("null"), std::string("[]"), text.substr(0, text.size() / 2), "<" + text}) {
    EXPECT_TRUE(read_tuning(damaged, k_key).empty()) << damaged;
  }
  Json json = Json::parse(text);
  json["shapes"] = 3;
  EXPECT_TRUE(read_tuning(json.dump(), k_key).empty());
  json = Json::parse(text);
  json["shapes"]["matmul"] = {{"form", 1}, {"own", "a"}};
  json["shapes"]["attention"]["us"] = {{"a", "fast"}};
  const gpu::Tuning rest = read_tuning(json.dump(), k_key);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_TRUE(rest.at("attention").times.empty());
}

TEST(TuningFile, ACpuIsMeasuredOnlyWhenAsked) {
  gpu::Caps caps;
  caps.kind = gpu::AdapterKind::cpu;
  const auto asks = [&](Autotune when, Backend backend) {
    EngineOptions options = {.backend = backend};
    use_tuning(caps, when, "", options);
    return options.autotune;
  };
  EXPECT_FALSE(asks(Autotune::unless_on_cpu, Backend::gpu));
  EXPECT_TRUE(asks(Autotune::on, Backend::gpu));
  EXPECT_FALSE(asks(Autotune::on, Backend::lockstep));
  caps.kind = gpu::AdapterKind::discrete;
  EXPECT_TRUE(asks(Autotune::unless_on_cpu, Backend::gpu));
  EXPECT_FALSE(asks(Autotune::off, Backend::gpu));
}

}  // namespace
}  // namespace ztvm::engine
