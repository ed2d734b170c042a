#include "engine/model_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/gguf_text.hpp"
#include "kernels/rope_kv/rope_kv.hpp"

namespace ztvm::engine {
namespace {

constexpr std::uint64_t k_first_header_bytes = 1u << 20;

}  // namespace

ModelLoader::ModelLoader(gpu::Device& device, std::string_view name, std::uint64_t n_file_bytes,
                         LoadOptions options)
    : device_(device),
      name_(name),
      n_file_bytes_(n_file_bytes),
      options_(options),
      n_header_bytes_(std::min(n_file_bytes, k_first_header_bytes)) {}

std::optional<ByteRange> ModelLoader::wanted() const {
  if (!model_) return ByteRange{.offset = header_.size(), .n_bytes = n_header_bytes_ - header_.size()};
  const auto range = stream_.wanted();
  if (!range) return std::nullopt;
  return ByteRange{.offset = range->offset, .n_bytes = range->n_bytes};
}

Result<void> ModelLoader::supply(Bytes bytes) {
  const auto range = wanted();
  check(range.has_value(), "nothing is supplied to a complete model");
  if (bytes.size() != range->n_bytes) {
    return fail(ErrorCode::io, fmt::format("{} gives {} bytes at offset {}, expected {}.", name_,
                                           bytes.size(), range->offset, range->n_bytes));
  }
  return model_ ? supply_weights(bytes) : supply_header(bytes);
}

Result<void> ModelLoader::supply_header(Bytes bytes) {
  header_.insert(header_.end(), bytes.begin(), bytes.end());
  auto progress = load::parse_gguf(header_, name_, n_file_bytes_);
  if (!progress) return forward(progress);
  if (const auto* need = std::get_if<load::NeedBytes>(&*progress)) {
    // Doubling keeps the number of requests small; the parser's figure is a lower bound.
    n_header_bytes_ = std::min(n_file_bytes_, std::max<std::uint64_t>(need->n_bytes, header_.size() * 2));
    return {};
  }
  header_ = std::vector<std::byte>();
  return start_weights(std::move(std::get<load::GgufFile>(*progress)));
}

Result<void> ModelLoader::start_weights(load::GgufFile file) {
  auto text = read_text_parts(file);
  if (!text) return forward(text);
  auto plan = plan_model(std::move(file), text->tokenizer.vocab_size(), device_.caps(), options_);
  if (!plan) return forward(plan);
  if (auto allocated = plan->buffers.allocate(device_); !allocated) return forward(allocated);
  model::Weights weights = plan->weights.bind(plan->buffers);
  stream_ = load::WeightStream({plan->weights.steps().begin(), plan->weights.steps().end()},
                               plan->file.checkpoint.files);
  model_ = std::make_unique<Model>(Model{.spec = std::move(plan->family.spec),
                                         .context = plan->context,
                                         .tokenizer = std::move(text->tokenizer),
                                         .chat_template = text->chat_template,
                                         .stop_ids = std::move(text->stop_ids),
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
  const auto& attention = std::get<model::AttentionSpec>(model_->spec.layers.front().mixer);
  device_.write(state.rope.buffer, 0,
                as_bytes(kernels::rope_table(model_->context, attention.n_rotated, model_->spec.rope_theta)));
}

Result<void> ModelLoader::supply_weights(Bytes bytes) {
  auto writes = stream_.supply(bytes, n_file_bytes_);
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
