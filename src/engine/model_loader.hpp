#pragma once
// Opens a model piece by piece: headers, then weights onto the device. Pull style, so that a page, a server and a
// program read the bytes however they like.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "engine/model_plan.hpp"
#include "load/checkpoint_reader.hpp"
#include "load/weight_stream.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::engine {

class ModelLoader {
 public:
  ModelLoader(gpu::Device& device, const ModelName& model, LoadOptions options);

  // The next range to supply; nothing once the model is complete, or after an error in the headers.
  std::optional<load::WantedRange> wanted() const;
  // The range that is wanted after `n` others; nothing until the headers were read.
  std::optional<load::WantedRange> wanted_later(std::size_t n) const {
    return model_ ? stream_.wanted_later(n) : std::nullopt;
  }
  Result<void> supply(Bytes bytes, std::uint64_t n_file_bytes);
  Result<void> supply_missing();
  // Nothing until the headers were read.
  const std::optional<MemoryPlan>& memory_plan() const { return memory_; }
  // The model, once wanted() gives nothing.
  std::unique_ptr<Model> take();

 private:
  Result<void> start_weights_if_read();
  Result<void> supply_weights(Bytes bytes, std::uint64_t n_file_bytes);

  gpu::Device& device_;
  std::string name_;
  LoadOptions options_;
  load::CheckpointReader reader_;
  std::optional<MemoryPlan> memory_;
  load::WeightStream stream_;
  std::unique_ptr<Model> model_;
};

}  // namespace ztvm::engine
