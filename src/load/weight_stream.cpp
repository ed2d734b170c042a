#include "load/weight_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/in_quotes.hpp"
#include "load/sniff.hpp"

namespace ztvm::load {

WeightStream::WeightStream(std::vector<UploadStep> steps, std::vector<CheckpointFile> files)
    : steps_(std::move(steps)), reads_(plan_reads(steps_)), files_(std::move(files)), zeros_(steps_) {
  for (const UploadStep& step : steps_) {
    check(!step.sources.empty() && step.sources.size() <= held_.size() + 1,
          "a tensor has one to three parts");
    n_bytes_ += step.n_bytes();
  }
}

std::optional<WantedRange> WeightStream::wanted_later(std::size_t n) const {
  if (n >= reads_.size() - next_read_) return std::nullopt;
  const PlannedRead& later = reads_[next_read_ + n];
  return WantedRange{
      .file = files_[later.file].name, .offset = later.range.offset, .n_bytes = later.range.n_bytes};
}

Error WeightStream::missing() const {
  check(next_read_ < reads_.size(), "a file is missing only when it is wanted");
  return {ErrorCode::not_found,
          fmt::format("There is no file {}, which should hold tensor {}.", files_[read().file].name,
                      in_quotes(steps_[read().first_step].tensor))};
}

// The length decides whether it is the right file; the first bytes may tell what it is instead.
Result<void> WeightStream::check_file(Bytes bytes, std::uint64_t n_file_bytes) const {
  const CheckpointFile& file = files_[read().file];
  const std::string& tensor = steps_[read().first_step].tensor;
  if (n_file_bytes != file.n_bytes) {
    const auto wrong = read().range.offset == 0 ? sniff_wrong_file(bytes) : std::nullopt;
    if (wrong) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{}, which should hold tensor {}, {}", file.name, in_quotes(tensor), *wrong));
    }
    return fail(ErrorCode::corrupt_file,
                fmt::format("{}, which should hold tensor {}, has {} bytes, expected {}; it {}.", file.name,
                            in_quotes(tensor), n_file_bytes, file.n_bytes,
                            n_file_bytes < file.n_bytes ? "is truncated" : "is another file"));
  }
  if (bytes.size() == read().range.n_bytes) return {};
  return fail(ErrorCode::io,
              fmt::format("{} gives {} bytes at offset {}, expected {}, for tensor {}.", file.name,
                          bytes.size(), read().range.offset, read().range.n_bytes, in_quotes(tensor)));
}

Result<std::span<const BufferWrite>> WeightStream::supply(Bytes bytes, std::uint64_t n_file_bytes) {
  check(next_read_ < reads_.size(), "weights are supplied only when they are wanted");
  if (auto right = check_file(bytes, n_file_bytes); !right) return forward(right);
  n_bytes_done_ += bytes.size();
  const PlannedRead& planned = reads_[next_read_++];
  writes_.clear();
  if (planned.part != 0) {
    std::vector<std::byte>& held = held_[planned.part - 1].bytes;
    held.insert(held.end(), bytes.begin(), bytes.end());
    return std::span<const BufferWrite>();
  }
  if (converted_.size() < planned.n_steps) converted_.resize(planned.n_steps);
  for (std::size_t i = 0; i < planned.n_steps; ++i) {
    const std::size_t index = planned.first_step + i;
    const auto n_words = static_cast<std::size_t>(steps_[index].sources.front().range.n_bytes);
    auto finished = finish_step(index, bytes.first(n_words), converted_[i]);
    if (!finished) return forward(finished);
    bytes = bytes.subspan(n_words);
  }
  return std::span<const BufferWrite>(writes_);
}

Result<void> WeightStream::finish_step(std::size_t index, Bytes words, QuantisedRows& converted) {
  const UploadStep& step = steps_[index];
  std::array<Bytes, 3> sources = {words, {}, {}};
  for (std::size_t part = 1; part < step.sources.size(); ++part) {
    HeldPart& held = held_[part - 1];
    const auto n_bytes = static_cast<std::size_t>(step.sources[part].range.n_bytes);
    sources[part] = Bytes(held.bytes).subspan(held.n_used, n_bytes);
    held.n_used += n_bytes;
  }
  const auto used = std::span<const Bytes>(sources).first(step.sources.size());
  if (auto seen = zeros_.see(index, step, used, files_); !seen) return seen;
  if (auto applied = apply(step, used, files_, converted); !applied) return applied;
  for (HeldPart& held : held_) {
    if (held.n_used != held.bytes.size()) continue;
    held.bytes.clear();
    held.n_used = 0;
  }
  writes_.push_back({.place = step.words, .bytes = converted.words});
  if (step.layout.has_scales()) writes_.push_back({.place = step.scales, .bytes = converted.scales});
  return {};
}

}  // namespace ztvm::load
