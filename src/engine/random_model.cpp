#include "engine/random_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/half.hpp"
#include "kernels/case_values.hpp"

namespace ztvm::engine {
namespace {

// Many bytes are copies of one block of random ones: what a weight is does not matter, where it lies does.
constexpr std::size_t k_block_bytes = 4u << 20;

// Records of the tensors that names ask for, as a checkpoint of that model would have them.
class Recorder {
 public:
  explicit Recorder(load::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void add(const model::MatrixSpec& spec) {
    for (const model::MatrixSource& source : spec.sources) {
      if (!seen_.insert(source.tensor).second) continue;
      load::TensorRecord record;
      record.name = source.tensor;
      record.shape = source.shape.empty()
                         ? std::vector<std::uint64_t>{source.first_row + source.rows, spec.dim}
                         : source.shape;
      const bool is_router = spec.label.ends_with("router");
      record.dtype = is_router ? load::Dtype::q8_0 : load::Dtype::mlc_q4;
      record.group = is_router ? 0 : 32;
      record.parts.resize(is_router ? 1 : 2);
      for (load::TensorPart& part : record.parts) part.range.n_bytes = record.n_rows() * record.dim();
      checkpoint_.tensors.push_back(std::move(record));
    }
  }
  void add(const std::string& name, std::vector<std::uint64_t> shape) {
    if (name.empty() || !seen_.insert(name).second) return;
    load::TensorRecord record;
    record.name = name;
    record.dtype = load::Dtype::f32;
    record.shape = std::move(shape);
    record.parts.resize(1);
    record.parts[0].range.n_bytes = record.n_rows() * record.dim() * 4;
    checkpoint_.tensors.push_back(std::move(record));
  }

  void add(const model::AttentionNames& names, const model::AttentionSpec& spec, std::uint64_t dim) {
    add(names.norm, {dim});
    add(names.in);
    add(names.q_norm, {spec.head_dim});
    add(names.k_norm, {spec.head_dim});
    add(names.out);
  }
  void add(const model::DeltaNetNames& names, const model::DeltaNetSpec& spec, std::uint64_t dim) {
    add(names.norm, {dim});
    add(names.in);
    add(names.conv, {spec.conv_channels(), spec.conv_width});
    add(names.a_log, {spec.n_value_heads});
    add(names.dt_bias, {spec.n_value_heads});
    add(names.out_norm, {spec.value_dim});
    add(names.out);
  }
  void add(const model::MlpNames& names, std::uint64_t dim) {
    add(names.norm, {dim});
    add(names.gate_up);
    add(names.down);
  }
  void add(const model::MoeNames& names, std::uint64_t dim) {
    add(names.norm, {dim});
    for (const auto* matrix :
         {&names.router, &names.gate_up, &names.down, &names.shared_gate_up, &names.shared_down}) {
      add(*matrix);
    }
  }

 private:
  load::Checkpoint& checkpoint_;
  std::set<std::string> seen_;
};

load::Checkpoint checkpoint_of(const model::Family& family) {
  load::Checkpoint checkpoint = {
      .name = "random weights", .files = {{.name = "none", .n_bytes = 0}}, .tensors = {}};
  Recorder recorder(checkpoint);
  const model::ModelSpec& spec = family.spec;
  recorder.add(family.names.embedding);
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const model::LayerNames& names = family.names.layers[i];
    if (const auto* attention = std::get_if<model::AttentionNames>(&names.mixer)) {
      recorder.add(*attention, std::get<model::AttentionSpec>(spec.layers[i].mixer), spec.dim);
    } else {
      recorder.add(std::get<model::DeltaNetNames>(names.mixer),
                   std::get<model::DeltaNetSpec>(spec.layers[i].mixer), spec.dim);
    }
    std::visit([&](const auto& ffn) { recorder.add(ffn, spec.dim); }, names.ffn);
  }
  recorder.add(family.names.final_norm, {spec.dim});
  recorder.add(family.names.head);
  return checkpoint;
}

std::vector<std::byte> random_words(kernels::Random& random) {
  std::vector<std::uint64_t> words(k_block_bytes / 8);
  for (std::uint64_t& word : words) word = random.next();
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// d and m of a group, so that weights have mean 0 and a deviation near dim^-0.5.
std::vector<std::byte> random_scales(kernels::Random& random, std::uint32_t dim, QuantKind kind) {
  const float levels = kind == QuantKind::q8 ? 256.0f : 16.0f;
  std::vector<std::uint32_t> words(k_block_bytes / 4);
  for (std::uint32_t& word : words) {
    const float d = (0.5f + random.uniform()) * 3.46f / levels / std::sqrt(static_cast<float>(dim));
    const std::uint32_t low = float_to_half(d);
    const std::uint32_t high = float_to_half(-levels / 2.0f * half_to_float(static_cast<std::uint16_t>(low)));
    word = low | (high << 16);
  }
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// Random bytes on the device, from which buffers are filled there: gigabytes need not come from the host.
Result<gpu::Buffer> make_block(gpu::Device& device, Bytes bytes) {
  auto block = gpu::make_buffer(device, bytes.size(), "random block");
  if (block) device.write(block->id(), 0, bytes);
  return block;
}

void fill(std::vector<gpu::Command>& commands, gpu::BufferId buffer, std::uint64_t n_bytes,
          const gpu::Buffer& block) {
  for (std::uint64_t at = 0; at < n_bytes; at += block.n_bytes()) {
    commands.push_back({.kind = gpu::Command::Kind::copy,
                        .a = std::to_underlying(block.id()),
                        .b = std::to_underlying(buffer),
                        .x = 0,
                        .y = narrow<std::uint32_t>(at / 4),
                        .z = narrow<std::uint32_t>(std::min(block.n_bytes(), n_bytes - at) / 4)});
  }
}

Result<void> fill_weights(gpu::Device& device, const ModelPlan& plan, std::uint64_t seed) {
  kernels::Random random(seed);
  auto words = make_block(device, random_words(random));
  if (!words) return forward(words);
  std::map<std::pair<std::uint32_t, QuantKind>, gpu::Buffer> scales;
  std::vector<float> values(k_block_bytes / 4);
  for (float& value : values) value = 0.5f + random.uniform();
  auto small = make_block(device, as_bytes(values));
  if (!small) return forward(small);
  const auto planned = plan.buffers.planned();
  std::set<std::uint32_t> done;
  std::vector<gpu::Command> commands;
  // Every step names its buffers and their layout.
  for (const load::UploadStep& step : plan.weights.steps()) {
    const auto fill_slot = [&](std::uint32_t slot, const gpu::Buffer& block) {
      if (!done.insert(slot).second) return;
      const gpu::BufferId buffer =
          plan.buffers.tensor(static_cast<model::Slot>(slot), gpu::Dtype::u32).buffer;
      fill(commands, buffer, planned[slot].n_bytes, block);
    };
    if (!step.layout.has_scales()) {
      fill_slot(step.words.slot, *small);
      continue;
    }
    const std::pair key(step.layout.dim, step.layout.kind);
    if (!scales.contains(key)) {
      auto block = make_block(device, random_scales(random, key.first, key.second));
      if (!block) return forward(block);
      scales[key] = std::move(*block);
    }
    fill_slot(step.words.slot, *words);
    fill_slot(step.scales.slot, scales[key]);
  }
  device.submit(commands);
  return {};
}

}  // namespace

Result<ModelPlan> plan_random_model(const gpu::Caps& caps, model::Family family, const LoadOptions& options) {
  const load::Checkpoint checkpoint = checkpoint_of(family);
  const std::size_t vocab = family.spec.vocab;
  return plan_model(std::move(family), checkpoint, vocab, caps, options);
}

Result<std::unique_ptr<Model>> make_random_model(gpu::Device& device, model::Family family,
                                                 const LoadOptions& options, std::uint64_t seed) {
  auto plan = plan_random_model(device.caps(), std::move(family), options);
  if (!plan) return forward(plan);
  if (auto allocated = plan->buffers.allocate(device); !allocated) return forward(allocated);
  if (auto filled = fill_weights(device, *plan, seed); !filled) return forward(filled);
  write_tables(device, plan->decoder, plan->buffers);
  return std::make_unique<Model>(Model{.spec = std::move(plan->family.spec),
                                       .context = plan->context,
                                       .memory = plan->memory,
                                       .text = std::nullopt,
                                       .buffers = std::move(plan->buffers),
                                       .weights = std::move(plan->weights),
                                       .decoder = std::move(plan->decoder)});
}

}  // namespace ztvm::engine
