#include "load/weight_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "load/in_quotes.hpp"
#include "load/sniff.hpp"

namespace ztvm::load {

WeightStream::WeightStream(std::vector<UploadStep> steps, std::vector<CheckpointFile> files)
    : steps_(std::move(steps)), files_(std::move(files)), zeros_(steps_, files_.size()) {
  for (const UploadStep& step : steps_) {
    check(!step.sources.empty() && step.sources.size() <= held_.size() + 1,
          "a tensor has one to three parts");
    n_bytes_ += step.n_bytes();
  }
}

std::optional<WantedRange> WeightStream::wanted() const {
  if (next_step_ == steps_.size()) return std::nullopt;
  return WantedRange{
      .file = files_[source().file].name, .offset = source().range.offset, .n_bytes = source().range.n_bytes};
}

Error WeightStream::missing() const {
  check(next_step_ < steps_.size(), "a file is missing only when it is wanted");
  return {ErrorCode::not_found,
          fmt::format("There is no file {}, which should hold tensor {}.", files_[source().file].name,
                      in_quotes(steps_[next_step_].tensor))};
}

// The length decides whether it is the right file; the first bytes may tell what it is instead.
Result<void> WeightStream::check_file(Bytes bytes, std::uint64_t n_file_bytes) const {
  const CheckpointFile& file = files_[source().file];
  const std::string& tensor = steps_[next_step_].tensor;
  if (n_file_bytes != file.n_bytes) {
    const auto wrong = source().range.offset == 0 ? sniff_wrong_file(bytes) : std::nullopt;
    if (wrong) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{}, which should hold tensor {}, {}", file.name, in_quotes(tensor), *wrong));
    }
    return fail(ErrorCode::corrupt_file,
                fmt::format("{}, which should hold tensor {}, has {} bytes, expected {}; it {}.", file.name,
                            in_quotes(tensor), n_file_bytes, file.n_bytes,
                            n_file_bytes < file.n_bytes ? "is truncated" : "is another file"));
  }
  if (bytes.size() == source().range.n_bytes) return {};
  return fail(ErrorCode::io,
              fmt::format("{} gives {} bytes at offset {}, expected {}, for tensor {}.", file.name,
                          bytes.size(), source().range.offset, source().range.n_bytes, in_quotes(tensor)));
}

Result<std::span<const BufferWrite>> WeightStream::supply(Bytes bytes, std::uint64_t n_file_bytes) {
  check(next_step_ < steps_.size(), "weights are supplied only when they are wanted");
  if (auto right = check_file(bytes, n_file_bytes); !right) return forward(right);
  const UploadStep& step = steps_[next_step_];
  if (auto seen = zeros_.see(step, next_source_, bytes, files_); !seen) return forward(seen);
  n_bytes_done_ += bytes.size();
  if (next_source_ + 1 == step.sources.size()) return finish_step(bytes);
  held_[next_source_++].assign(bytes.begin(), bytes.end());
  return std::span<const BufferWrite>();
}

Result<std::span<const BufferWrite>> WeightStream::finish_step(Bytes last) {
  const UploadStep& step = steps_[next_step_];
  std::array<Bytes, 3> sources = {held_[0], held_[1], {}};
  sources[next_source_] = last;
  const auto used = std::span<const Bytes>(sources).first(step.sources.size());
  if (auto applied = apply(step, used, files_, converted_); !applied) return forward(applied);
  ++next_step_;
  next_source_ = 0;
  writes_[0] = {.place = step.words, .bytes = converted_.words};
  writes_[1] = {.place = step.scales, .bytes = converted_.scales};
  return std::span<const BufferWrite>(writes_).first(step.layout.has_scales() ? 2 : 1);
}

}  // namespace ztvm::load
