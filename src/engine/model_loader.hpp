#pragma once
// Opens a model piece by piece: headers, then weights onto the device. Pull style, so that a page, a server and a
// program read the bytes however they like.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/model_plan.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::engine {

// A model whose buffers exist; complete once every upload step was supplied.
struct Model {
  model::ModelSpec spec;
  std::uint32_t context = 0;
  TextParts text;
  model::Buffers buffers;
  model::Decoder decoder;
  model::Weights weights;
};

class ModelLoader {
 public:
  ModelLoader(gpu::Device& device, const ModelName& model, LoadOptions options);

  // The next range to supply; nothing once the model is complete.
  std::optional<load::WantedRange> wanted() const;
  Result<void> supply(Bytes bytes, std::uint64_t n_file_bytes);
  Result<void> supply_missing();
  // Nothing until the headers were read.
  const std::optional<MemoryPlan>& memory_plan() const { return memory_; }
  // The model, once wanted() gives nothing.
  std::unique_ptr<Model> take();

 private:
  Result<void> start_weights();
  Result<void> upload();
  void write_tables();

  gpu::Device& device_;
  LoadOptions options_;
  load::CheckpointReader reader_;
  std::string name_;
  std::vector<load::CheckpointFile> files_;
  std::optional<MemoryPlan> memory_;
  std::vector<load::UploadStep> steps_;
  std::size_t next_step_ = 0;
  std::vector<std::vector<std::byte>> sources_;  // bytes of the next step, as far as they were supplied
  QuantisedRows converted_;                      // reused from step to step
  std::unique_ptr<Model> model_;
};

}  // namespace ztvm::engine
