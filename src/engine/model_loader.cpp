#include "engine/model_loader.hpp"

#include <fmt/format.h>

#include <numeric>

#include "kernels/rope_kv/rope_kv.hpp"

namespace ztvm::engine {

ModelLoader::ModelLoader(gpu::Device& device, const ModelName& model, LoadOptions options)
    : device_(device), options_(options), reader_(make_reader(model)) {}

std::optional<load::WantedRange> ModelLoader::wanted() const {
  if (!model_) return reader_.wanted();
  if (next_step_ == steps_.size()) return std::nullopt;
  const load::SourceRange& source = steps_[next_step_].sources[sources_.size()];
  return load::WantedRange{.file = files_[source.file].name,
                           .offset = source.range.offset,
                           .n_bytes = source.range.n_bytes,
                           .whole = false,
                           .optional = false};
}

Result<void> ModelLoader::supply(Bytes bytes, std::uint64_t n_file_bytes) {
  check(wanted().has_value(), "nothing is supplied to a complete model");
  if (!model_) {
    if (auto supplied = reader_.supply(bytes, n_file_bytes); !supplied) return supplied;
    return reader_.wanted() ? Result<void>() : start_weights();
  }
  const load::SourceRange& source = steps_[next_step_].sources[sources_.size()];
  const load::CheckpointFile& file = files_[source.file];
  if (bytes.size() != source.range.n_bytes) {
    return fail(ErrorCode::io, fmt::format("{} gives {} bytes at offset {}, expected {}.", file.name, bytes.size(),
                                           source.range.offset, source.range.n_bytes));
  }
  if (n_file_bytes != file.n_bytes) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has {} bytes, but {} promises {}.", file.name, n_file_bytes, name_, file.n_bytes));
  }
  sources_.emplace_back(bytes.begin(), bytes.end());
  return sources_.size() == steps_[next_step_].sources.size() ? upload() : Result<void>();
}

Result<void> ModelLoader::supply_missing() {
  const auto range = wanted();
  check(range.has_value(), "nothing is missing from a complete model");
  if (!model_) {
    if (auto supplied = reader_.supply_missing(); !supplied) return supplied;
    return reader_.wanted() ? Result<void>() : start_weights();
  }
  return fail(ErrorCode::not_found, fmt::format("{} lacks the file \"{}\".", name_, range->file));
}

Result<void> ModelLoader::start_weights() {
  auto head = read_model_head(reader_.take());
  if (!head) return forward(head);
  auto plan = plan_model(std::move(head->family), head->checkpoint, head->text.tokenizer.vocab_size(),
                         device_.caps(), options_);
  if (!plan) return forward(plan);
  if (auto allocated = plan->buffers.allocate(device_); !allocated) return forward(allocated);
  memory_ = plan->memory;
  name_ = head->checkpoint.name;
  files_ = std::move(head->checkpoint.files);
  model::Weights weights = plan->weights.bind(plan->buffers);
  steps_.assign(plan->weights.steps().begin(), plan->weights.steps().end());
  model_ = std::make_unique<Model>(Model{.spec = std::move(plan->family.spec),
                                         .context = plan->context,
                                         .text = std::move(head->text),
                                         .buffers = std::move(plan->buffers),
                                         .decoder = std::move(plan->decoder),
                                         .weights = std::move(weights)});
  write_tables();
  return {};
}

void ModelLoader::write_tables() {
  const model::State state = model_->decoder.state(model_->buffers);
  std::vector<std::uint32_t> pages(model_->decoder.n_pages());
  std::iota(pages.begin(), pages.end(), 0u);
  device_.write(state.pages.buffer, 0, as_bytes(pages));
  const std::uint32_t n_rotated = model_->spec.n_rotated();
  if (n_rotated == 0) return;
  device_.write(state.rope.buffer, 0,
                as_bytes(kernels::rope_table(model_->context, n_rotated, model_->spec.rope_theta)));
}

// Converts what was supplied for a step, and hands it to the device.
Result<void> ModelLoader::upload() {
  const load::UploadStep& step = steps_[next_step_];
  const std::vector<Bytes> sources(sources_.begin(), sources_.end());
  if (auto applied = load::apply(step, sources, name_, converted_); !applied) return forward(applied);
  const auto write = [this](const load::BufferPlace& place, const std::vector<std::byte>& data) {
    const auto slot = static_cast<model::Slot>(place.slot);
    device_.write(model_->buffers.tensor(slot, gpu::Dtype::u32).buffer, place.offset, data);
  };
  write(step.words, converted_.words);
  if (step.layout.has_scales()) write(step.scales, converted_.scales);
  sources_.clear();
  ++next_step_;
  return {};
}

std::unique_ptr<Model> ModelLoader::take() {
  check(model_ && next_step_ == steps_.size(), "a model is taken once it is complete");
  return std::move(model_);
}

}  // namespace ztvm::engine
