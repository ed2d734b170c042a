// Any bytes as a .safetensors file, whole and as the start of a longer one, and its upload as far as the bytes go.
#include "base/bytes.hpp"
#include "load/mlx_tensors.hpp"
#include "load/safetensors.hpp"
#include "load/weight_stream.hpp"

namespace {

using namespace ztvm;

// Everything that follows from an accepted header.
void use(std::span<const load::RawTensor> tensors, Bytes file, std::uint64_t n_file_bytes) {
  load::Checkpoint checkpoint = {.name = "fuzz",
                                 .files = {{.name = "fuzz.safetensors", .n_bytes = n_file_bytes, .md5 = {}}},
                                 .tensors = {},
                                 .skipped = {}};
  if (!load::check_raw_tensors(tensors, checkpoint.files)) return;
  load::AffineConfig config = {.all = load::AffineGroup{.bits = 4, .group = 32}, .modules = {}};
  if (!load::join_mlx_tensors(tensors, config, checkpoint)) return;
  std::vector<load::UploadRequest> requests;
  for (const load::TensorRecord& tensor : checkpoint.tensors) {
    check(checkpoint.find(tensor.name) == &tensor, "names are unique");
    if (tensor.n_rows() <= 1024)
      requests.push_back({.tensor = &tensor,
                          .targets = {{.words_slot = static_cast<std::uint32_t>(requests.size()),
                                       .n_rows = tensor.n_rows()}}});
  }
  auto steps = load::plan_uploads(requests, checkpoint, 64);
  if (!steps) return;
  load::WeightStream stream(std::move(*steps), checkpoint.files);
  while (const auto range = stream.wanted()) {
    const std::uint64_t from = std::min<std::uint64_t>(range->offset, file.size());
    const std::uint64_t n = std::min<std::uint64_t>(range->n_bytes, file.size() - from);
    if (!stream.supply(file.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(n)),
                       n_file_bytes))
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  const Bytes file(reinterpret_cast<const std::byte*>(data), n_bytes);
  for (const std::uint64_t n_file_bytes : {std::uint64_t{n_bytes}, n_bytes + (std::uint64_t{1} << 40)}) {
    const auto parsed = load::parse_safetensors(file, "fuzz.safetensors", n_file_bytes, 0);
    if (!parsed) {
      check(!parsed.error().text.empty(), "an error has a text");
    } else if (const auto* tensors = std::get_if<std::vector<load::RawTensor>>(&*parsed)) {
      use(*tensors, file, n_file_bytes);
    } else {
      check(std::get<load::NeedBytes>(*parsed).n_bytes > n_bytes, "more bytes are asked for than were given");
    }
  }
  (void)load::parse_safetensors_index({reinterpret_cast<const char*>(data), n_bytes}, "fuzz.index.json");
  return 0;
}
