#pragma once
// Opens a model file piece by piece: header, then weights onto the device. Pull style, so that a page, a server and a
// program read the bytes however they like.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/model_plan.hpp"
#include "load/weight_stream.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::engine {

// A model whose buffers exist; complete once every upload step was supplied.
struct Model {
  model::ModelSpec spec;
  std::uint32_t context = 0;
  text::Tokenizer tokenizer;
  std::optional<text::TemplateKind> chat_template;  // none: the file has none, or one that is not known
  std::vector<std::uint32_t> stop_ids;
  model::Buffers buffers;
  model::Decoder decoder;
  model::Weights weights;
};

class ModelLoader {
 public:
  ModelLoader(gpu::Device& device, std::string_view name, std::uint64_t n_file_bytes, LoadOptions options);

  // The next range of the file to supply; nothing once the model is complete.
  std::optional<ByteRange> wanted() const;
  Result<void> supply(Bytes bytes);
  // The model, once wanted() gives nothing.
  std::unique_ptr<Model> take();

 private:
  Result<void> supply_header(Bytes bytes);
  Result<void> supply_weights(Bytes bytes);
  Result<void> start_weights(load::GgufFile file);
  void write_tables();

  gpu::Device& device_;
  std::string name_;
  std::uint64_t n_file_bytes_ = 0;
  LoadOptions options_;
  std::vector<std::byte> header_;     // grows until it parses, then is freed
  std::uint64_t n_header_bytes_ = 0;  // wanted in all
  load::WeightStream stream_;
  std::unique_ptr<Model> model_;
};

}  // namespace ztvm::engine
