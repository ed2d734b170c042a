#include "engine/model_loader.hpp"

#include <fmt/format.h>

namespace ztvm::engine {
namespace {

load::CheckpointReader make_reader(const ModelName& model) {
  return model.is_folder ? load::CheckpointReader::for_folder(model.name)
                         : load::CheckpointReader::for_gguf(model.name);
}

}  // namespace

ModelLoader::ModelLoader(gpu::Device& device, const ModelName& model, LoadOptions options)
    : device_(device), name_(model.name), options_(options), reader_(make_reader(model)) {}

std::optional<load::WantedRange> ModelLoader::wanted() const {
  return model_ ? stream_.wanted() : reader_.wanted();
}

Result<void> ModelLoader::supply(Bytes bytes, std::uint64_t n_file_bytes) {
  check(wanted().has_value(), "nothing is supplied to a complete model");
  if (model_) return supply_weights(bytes, n_file_bytes);
  if (auto supplied = reader_.supply(bytes, n_file_bytes); !supplied) return supplied;
  return start_weights_if_read();
}

Result<void> ModelLoader::supply_missing() {
  const auto range = wanted();
  check(range.has_value(), "nothing is missing from a complete model");
  if (model_) {
    return fail(ErrorCode::not_found, fmt::format("{} lacks the file \"{}\".", name_, range->file));
  }
  if (auto supplied = reader_.supply_missing(); !supplied) return supplied;
  return start_weights_if_read();
}

Result<void> ModelLoader::start_weights_if_read() {
  if (reader_.wanted()) return {};
  auto head = read_model_head(reader_.take());
  if (!head) return forward(head);
  auto plan = plan_model(std::move(head->family), head->checkpoint, head->text.tokenizer.vocab_size(),
                         device_.caps(), options_);
  if (!plan) return forward(plan);
  if (auto allocated = plan->buffers.allocate(device_); !allocated) return forward(allocated);
  memory_ = plan->memory;
  stream_ = load::WeightStream({plan->weights.steps().begin(), plan->weights.steps().end()},
                               std::move(head->checkpoint.files));
  model_ = std::make_unique<Model>(Model{.spec = std::move(plan->family.spec),
                                         .context = plan->context,
                                         .memory = plan->memory,
                                         .text = std::move(head->text),
                                         .buffers = std::move(plan->buffers),
                                         .weights = std::move(plan->weights),
                                         .decoder = std::move(plan->decoder)});
  write_tables(device_, model_->decoder, model_->buffers);
  return {};
}

Result<void> ModelLoader::supply_weights(Bytes bytes, std::uint64_t n_file_bytes) {
  auto writes = stream_.supply(bytes, n_file_bytes);
  if (!writes) return forward(writes);
  for (const load::BufferWrite& write : *writes) {
    const auto slot = static_cast<model::Slot>(write.place.slot);
    device_.write(model_->buffers.tensor(slot, gpu::Dtype::u32).buffer, write.place.offset, write.bytes);
  }
  return {};
}

std::unique_ptr<Model> ModelLoader::take() {
  check(model_ && !stream_.wanted(), "a model is taken once it is complete");
  return std::move(model_);
}

}  // namespace ztvm::engine
