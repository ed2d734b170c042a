// GGUF headers from arbitrary bytes: as a whole file, and as the start of a much longer one.
#include <string>

#include "load/describe.hpp"
#include "load/gguf.hpp"
#include "load/gguf_vocab.hpp"
#include "load/transform.hpp"
#include "load/upload_plan.hpp"

namespace {

using namespace ztvm;

// Everything that follows from an accepted header.
void use(const load::GgufFile& gguf, Bytes file) {
  check(!load::describe(gguf).empty(), "a header has a description");
  for (const auto& entry : gguf.metadata.entries()) {
    (void)gguf.metadata.find_uint(entry.key);
    (void)gguf.metadata.find_float(entry.key);
    (void)gguf.metadata.find_bool(entry.key);
    (void)gguf.metadata.find_string(entry.key);
    (void)gguf.metadata.find_strings(entry.key);
    (void)gguf.metadata.find_ints(entry.key);
  }
  if (const auto vocab = load::read_gguf_vocab(gguf.metadata))
    check(!vocab->tokens.empty(), "a vocabulary has tokens");

  QuantisedRows piece;
  for (const load::TensorRecord& tensor : gguf.checkpoint.tensors) {
    const load::UploadRequest request = {.tensor = &tensor, .targets = {{.n_rows = tensor.n_rows()}}};
    if (tensor.parts.front().range.end() > file.size()) continue;  // the file is longer than its bytes here
    const auto steps = load::plan_uploads({&request, 1}, gguf.checkpoint, 64);
    if (!steps) continue;
    for (const load::UploadStep& step : *steps) {
      const load::ByteRange& range = step.sources.front().range;
      const Bytes source =
          file.subspan(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.n_bytes));
      (void)load::apply(step, {&source, 1}, gguf.checkpoint.files, piece);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  const Bytes file(reinterpret_cast<const std::byte*>(data), n_bytes);
  for (const std::uint64_t n_file_bytes : {std::uint64_t{n_bytes}, n_bytes + (std::uint64_t{1} << 40)}) {
    const auto parsed = load::parse_gguf(file, "fuzz.gguf", n_file_bytes);
    if (!parsed) {
      check(!parsed.error().text.empty(), "an error has a text");
    } else if (const auto* gguf = std::get_if<load::GgufFile>(&*parsed)) {
      use(*gguf, file);
    } else {
      check(std::get<load::NeedBytes>(*parsed).n_bytes > n_bytes, "more bytes are asked for than were given");
    }
  }
  return 0;
}
