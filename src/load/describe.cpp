#include "load/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

using Out = std::back_insert_iterator<std::string>;

void describe_metadata(const GgufMetadata& metadata, Out out) {
  fmt::format_to(out, "\nMetadata ({} entries)\n", metadata.entries().size());
  std::size_t width = 0;
  for (const auto& entry : metadata.entries()) width = std::max(width, entry.key.size());
  width = std::min<std::size_t>(width, 48);
  for (const auto& entry : metadata.entries()) {
    fmt::format_to(out, "  {:<{}}  {}\n", printable(entry.key), width, metadata.value_text(entry));
  }
}

// "affine 4/64": bits and group where the type leaves them open.
std::string short_type(const TensorRecord& tensor) {
  if (tensor.dtype != Dtype::affine) return std::string(info(tensor.dtype).name);
  return fmt::format("affine {}/{}", tensor.bits, tensor.group);
}

void describe_tensors(const Checkpoint& file, Out out) {
  fmt::format_to(out, "\nTensors ({})\n", file.tensors.size());
  for (const TensorRecord& tensor : file.tensors) {
    fmt::format_to(out, "  {:<32} {:<5} {:<16} {:>10}\n", printable(tensor.name), short_type(tensor),
                   shape_text(tensor.shape), format_bytes(tensor.n_bytes()));
  }
}

void describe_totals(const Checkpoint& file, Out out) {
  constexpr std::array k_dtypes = {Dtype::f32,  Dtype::f16,    Dtype::bf16,  Dtype::q4_0, Dtype::q4_1,
                                   Dtype::q5_0, Dtype::q5_1,   Dtype::q8_0,  Dtype::q4_k, Dtype::q5_k,
                                   Dtype::q6_k, Dtype::mlc_q4, Dtype::affine};
  fmt::format_to(out, "\nTotals by type\n");
  for (const Dtype dtype : k_dtypes) {
    std::uint64_t n_tensors = 0;
    std::uint64_t n_weights = 0;
    std::uint64_t n_bytes = 0;
    for (const TensorRecord& tensor : file.tensors) {
      if (tensor.dtype != dtype) continue;
      ++n_tensors;
      n_weights += tensor.n_rows() * tensor.dim();
      n_bytes += tensor.n_bytes();
    }
    if (n_tensors == 0) continue;
    fmt::format_to(out, "  {:<5} {:>5} tensors {:>14} weights {:>10}\n", info(dtype).name, n_tensors,
                   n_weights, format_bytes(n_bytes));
  }
}

void describe_gguf(const GgufHeader& gguf, const Checkpoint& checkpoint, Out out) {
  const auto architecture = gguf.metadata.get_string("general.architecture");
  fmt::format_to(out, "{}: GGUF version {}, architecture {}, {}, alignment {}\n", checkpoint.name,
                 gguf.version, architecture ? printable(*architecture) : "not named",
                 format_bytes(checkpoint.files.front().n_bytes), gguf.alignment);
  describe_metadata(gguf.metadata, out);
}

void describe_folder(const ModelFiles& model, Out out) {
  const Checkpoint& checkpoint = model.checkpoint;
  std::uint64_t n_bytes = 0;
  for (const CheckpointFile& file : checkpoint.files) n_bytes += file.n_bytes;
  fmt::format_to(out, "{}: {}, {} in {} files\n\nFiles\n", checkpoint.name, to_string(model.kind),
                 format_bytes(n_bytes), checkpoint.files.size());
  for (const CheckpointFile& file : checkpoint.files) {
    fmt::format_to(out, "  {:<48} {:>10}\n", printable(file.name), format_bytes(file.n_bytes));
  }
}

void describe_weights(const Checkpoint& checkpoint, Out out) {
  describe_tensors(checkpoint, out);
  describe_totals(checkpoint, out);
  for (const SkippedTensor& tensor : checkpoint.skipped) {
    fmt::format_to(out, "  {} is skipped: no kernel reads {}\n", printable(tensor.name),
                   printable(tensor.type));
  }
}

}  // namespace

std::string describe(const GgufFile& gguf) {
  std::string text;
  const Out out = std::back_inserter(text);
  describe_gguf(gguf, gguf.checkpoint, out);
  describe_weights(gguf.checkpoint, out);
  return text;
}

std::string describe(const ModelFiles& model) {
  std::string text;
  const Out out = std::back_inserter(text);
  if (model.gguf) {
    describe_gguf(*model.gguf, model.checkpoint, out);
  } else {
    describe_folder(model, out);
  }
  describe_weights(model.checkpoint, out);
  return text;
}

}  // namespace ztvm::load
