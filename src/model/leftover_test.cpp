// Which tensors a model may leave unread.
#include "model/leftover.hpp"

#include <gtest/gtest.h>

namespace ztvm::model {
namespace {

constexpr std::string_view k_unused[] = {"visual", "rotary_emb.inv_freq"};

class Leftover : public testing::Test {
 protected:
  Leftover() {
    checkpoint_.files = {{.name = "x.bin"}};
    family_.spec = {.architecture = "llama", .tied_head = true, .layers = std::vector<LayerSpec>(2)};
    family_.names.embedding.sources = {{.tensor = "embed.weight"}};
    family_.unused = k_unused;
    add("embed.weight");
    steps_.push_back({.tensor = "embed.weight"});
  }
  void add(const std::string& name, load::Dtype dtype = load::Dtype::f16,
           std::vector<std::uint64_t> shape = {4, 32}) {
    checkpoint_.tensors.push_back({.name = name, .dtype = dtype, .shape = std::move(shape), .parts = {{}}});
  }
  std::string refusal() const {
    const auto used = check_all_used(checkpoint_, steps_, family_);
    return used ? "" : used.error().text;
  }

  load::Checkpoint checkpoint_;
  std::vector<load::UploadStep> steps_;
  Family family_;
};

TEST_F(Leftover, WhatTheFamilyDoesNotUseStays) {
  for (const char* name : {"visual.blocks.0.weight", "model.visual.norm", "layers.0.rotary_emb.inv_freq"})
    add(name);
  checkpoint_.skipped = {{.name = "visual.index", .type = "I64"}};
  EXPECT_EQ(refusal(), "");
  add("visually.weight");
  EXPECT_EQ(
      refusal(),
      "Tensor \"visually.weight\" in x.bin has no place in the model that the config describes, llama with 2 "
      "layers.");
}

TEST_F(Leftover, ATypeThatNoKernelReadsIsNamedToo) {
  checkpoint_.skipped = {{.name = "layers.2.weight", .type = "I8"}};
  EXPECT_NE(refusal().find("\"layers.2.weight\""), std::string::npos);
}

}  // namespace
}  // namespace ztvm::model
