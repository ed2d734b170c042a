#include "load/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "load/in_quotes.hpp"

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

void describe_tensors(const ModelFile& file, Out out) {
  fmt::format_to(out, "\nTensors ({})\n", file.tensors.size());
  for (const TensorRecord& tensor : file.tensors) {
    fmt::format_to(out, "  {:<32} {:<5} {:<16} {:>10}\n", printable(tensor.name), info(tensor.dtype).name,
                   shape_text(tensor.shape), format_bytes(tensor.range.n_bytes));
  }
}

void describe_totals(const ModelFile& file, Out out) {
  constexpr std::array k_dtypes = {Dtype::f32,  Dtype::f16,  Dtype::bf16, Dtype::q4_0, Dtype::q4_1,
                                   Dtype::q8_0, Dtype::q4_k, Dtype::q5_k, Dtype::q6_k};
  fmt::format_to(out, "\nTotals by type\n");
  for (const Dtype dtype : k_dtypes) {
    std::uint64_t n_tensors = 0;
    std::uint64_t n_weights = 0;
    std::uint64_t n_bytes = 0;
    for (const TensorRecord& tensor : file.tensors) {
      if (tensor.dtype != dtype) continue;
      ++n_tensors;
      n_weights += tensor.n_rows() * tensor.dim();
      n_bytes += tensor.range.n_bytes;
    }
    if (n_tensors == 0) continue;
    fmt::format_to(out, "  {:<5} {:>5} tensors {:>14} weights {:>10}\n", info(dtype).name, n_tensors,
                   n_weights, format_bytes(n_bytes));
  }
}

}  // namespace

std::string describe(const GgufFile& gguf) {
  std::string text;
  const Out out = std::back_inserter(text);
  const auto architecture = gguf.metadata.get_string("general.architecture");
  fmt::format_to(out, "{}: GGUF version {}, architecture {}, {}, alignment {}\n", gguf.tensors.name,
                 gguf.version, architecture ? printable(*architecture) : "not named",
                 format_bytes(gguf.tensors.n_bytes), gguf.alignment);
  describe_metadata(gguf.metadata, out);
  describe_tensors(gguf.tensors, out);
  describe_totals(gguf.tensors, out);
  return text;
}

}  // namespace ztvm::load
