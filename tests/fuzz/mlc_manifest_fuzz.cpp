// Any bytes as an ndarray-cache.json: they give a checkpoint whose every part is inside its file, or an error.
#include <string_view>

#include "load/mlc_manifest.hpp"
#include "load/transform.hpp"
#include "load/upload_plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  using namespace ztvm;
  const std::string_view text(reinterpret_cast<const char*>(data), n_bytes);
  (void)load::check_mlc_quantisation(text, "fuzz.json");
  const auto checkpoint = load::parse_mlc_manifest(text, "fuzz.json", "fuzz");
  if (!checkpoint) {
    check(!checkpoint.error().text.empty(), "an error has a text");
    return 0;
  }
  for (const load::TensorRecord& tensor : checkpoint->tensors) {
    check(checkpoint->find(tensor.name) == &tensor, "names are unique");
    for (const load::TensorPart& part : tensor.parts) {
      check(part.range.end() <= checkpoint->files[part.file].n_bytes, "a part is inside its file");
      check(part.range.n_bytes % tensor.n_rows() == 0, "a part has whole rows");
    }
    if (tensor.n_rows() > 1024) continue;
    const load::UploadRequest request = {.tensor = &tensor, .targets = {{.n_rows = tensor.n_rows()}}};
    (void)load::plan_uploads({&request, 1}, *checkpoint, 64);
  }
  return 0;
}
