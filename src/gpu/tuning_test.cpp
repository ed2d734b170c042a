#include "gpu/tuning.hpp"

#include <gtest/gtest.h>

namespace ztvm::gpu {
namespace {

std::vector<Form> two_forms() {
  return {{.name = "own", .program = {.body = "a", .parts = {}, .consts = {}}, .grid = {.x = 1}},
          {.name = "other", .program = {.body = "b", .parts = {}, .consts = {}}, .grid = {.x = 2}}};
}

std::shared_ptr<const Tuning> chosen(std::string form) {
  return std::make_shared<const Tuning>(
      Tuning{{"shape", {.form = std::move(form), .own = "own", .times = {}, .wrong = {}}}});
}

Op record(std::shared_ptr<const Tuning> tuning, std::string shape) {
  Recording recording = {.target = {}, .limits = {}, .max_rows = 1, .ops = {}, .tuning = std::move(tuning)};
  record_tuned(recording, {}, std::move(shape), two_forms());
  return recording.ops.at(0);
}

TEST(Tuning, AnOpTakesTheFormThatWasMeasuredForItsShape) {
  const Op op = record(chosen("other"), "shape");
  EXPECT_EQ(op.program.body, "b");
  EXPECT_EQ(op.grid.x, 2u);
  EXPECT_EQ(op.shape, "shape");
  EXPECT_EQ(op.forms.size(), 2u);
}

TEST(Tuning, WithoutAMeasurementItTakesTheKernelsOwnChoice) {
  EXPECT_EQ(record(nullptr, "shape").program.body, "a");
  EXPECT_EQ(record(chosen("other"), "another shape").program.body, "a");
  // One of another version, which is not offered any more.
  EXPECT_EQ(record(chosen("gone"), "shape").program.body, "a");
}

TEST(Tuning, AFormWithMoreWorkgroupsThanAnAxisTakesIsNotOffered) {
  for (const Grid wide : {Grid{.x = 65536}, Grid{.y = 65536}, Grid{.z = 65536}}) {
    std::vector<Form> forms = two_forms();
    forms.front().grid = wide;
    Recording recording = {.target = {}, .limits = {}, .max_rows = 1, .ops = {}, .tuning = nullptr};
    record_tuned(recording, {}, "shape", std::move(forms));
    EXPECT_EQ(recording.ops.at(0).program.body, "b");
    EXPECT_EQ(recording.ops.at(0).forms.size(), 1u);
  }
}

TEST(Tuning, TakeFormChangesNothingForANameThatIsNotThere) {
  Op op = record(nullptr, "shape");
  EXPECT_FALSE(take_form(op, "gone"));
  EXPECT_EQ(op.program.body, "a");
  EXPECT_TRUE(take_form(op, "other"));
  EXPECT_EQ(op.grid.x, 2u);
}

}  // namespace
}  // namespace ztvm::gpu
