#include "load/checkpoint_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "load/mlc_manifest.hpp"
#include "load/mlx_tensors.hpp"
#include "load/sniff.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_manifest_bytes = 64ull << 20;
constexpr std::uint64_t k_tokenizer_bytes = 64ull << 20;
constexpr std::uint64_t k_config_bytes = 8ull << 20;
// Asked for at first: most headers of safetensors fit, those of GGUF mostly have a vocabulary.
constexpr std::uint64_t k_first_safetensors_bytes = 64ull << 10;
constexpr std::uint64_t k_first_gguf_bytes = 1ull << 20;
constexpr std::string_view k_rope_factors = "rope_freqs.weight";
constexpr std::uint64_t k_rope_factors_bytes = 4096;  // of 1024 angles
constexpr std::string_view k_single_file = "model.safetensors";

}  // namespace

// A file that is read as a whole, and what follows it.
struct CheckpointReader::TextFile {
  Stage stage;
  std::string_view name;
  std::uint64_t most_bytes;
  Stage next;
  std::optional<Stage> next_if_missing;                     // none: the file is required
  std::optional<std::string> ModelTexts::* text = nullptr;  // null: read and dropped
};

const CheckpointReader::TextFile* CheckpointReader::text_file(Stage stage) {
  using enum Stage;
  static constexpr std::array k_files = {
      TextFile{mlc_chat_config, "mlc-chat-config.json", k_config_bytes, ndarray_cache, config,
               &ModelTexts::mlc_chat_config},
      TextFile{ndarray_cache, "ndarray-cache.json", k_manifest_bytes, tokenizer, tensor_cache},
      TextFile{tensor_cache, "tensor-cache.json", k_manifest_bytes, tokenizer, std::nullopt},
      TextFile{config, "config.json", k_config_bytes, index, std::nullopt, &ModelTexts::config},
      TextFile{index, "model.safetensors.index.json", k_manifest_bytes, safetensors_header,
               safetensors_header},
      TextFile{tokenizer, "tokenizer.json", k_tokenizer_bytes, tokenizer_config, std::nullopt,
               &ModelTexts::tokenizer},
      TextFile{tokenizer_config, "tokenizer_config.json", k_config_bytes, generation_config,
               generation_config, &ModelTexts::tokenizer_config},
      TextFile{generation_config, "generation_config.json", k_config_bytes, chat_template, chat_template,
               &ModelTexts::generation_config},
      TextFile{chat_template, "chat_template.jinja", k_config_bytes, done, done, &ModelTexts::chat_template},
  };
  const auto found = std::ranges::find(k_files, stage, &TextFile::stage);
  return found == k_files.end() ? nullptr : &*found;
}

CheckpointReader::CheckpointReader(Stage first, std::string_view name) : stage_(first) {
  files_.checkpoint.name = name;
}

CheckpointReader CheckpointReader::for_gguf(std::string_view file) {
  CheckpointReader reader(Stage::gguf_header, file);
  reader.n_header_bytes_ = k_first_gguf_bytes;
  return reader;
}

CheckpointReader CheckpointReader::for_folder(std::string_view folder) {
  return CheckpointReader(Stage::mlc_chat_config, folder);
}

std::optional<WantedRange> CheckpointReader::wanted() const {
  if (failed_ || stage_ == Stage::done) return std::nullopt;
  if (const TextFile* file = text_file(stage_)) {
    return WantedRange{.file = std::string(file->name),
                       .n_bytes = file->most_bytes,
                       .whole = true,
                       .optional = file->next_if_missing.has_value()};
  }
  if (stage_ == Stage::rope_factors) {
    const ByteRange& range = files_.checkpoint.find(k_rope_factors)->parts.front().range;
    return WantedRange{.file = files_.checkpoint.name, .offset = range.offset, .n_bytes = range.n_bytes};
  }
  const std::string& name =
      stage_ == Stage::gguf_header ? files_.checkpoint.name : files_.checkpoint.files[next_shard_].name;
  return WantedRange{.file = name, .offset = header_.size(), .n_bytes = n_header_bytes_ - header_.size()};
}

Result<void> CheckpointReader::supply(Bytes bytes, std::uint64_t n_file_bytes) {
  check(wanted().has_value(), "bytes are supplied only when they are wanted");
  const TextFile* file = text_file(stage_);
  auto supplied = stage_ == Stage::rope_factors ? supply_rope_factors(bytes)
                  : file != nullptr             ? supply_text(*file, bytes, n_file_bytes)
                                                : supply_header(bytes, n_file_bytes);
  failed_ = !supplied;
  return supplied;
}

Result<void> CheckpointReader::supply_missing() {
  const auto range = wanted();
  check(range.has_value(), "a file is missing only when it is wanted");
  const TextFile* file = text_file(stage_);
  if (file != nullptr && file->next_if_missing) {
    if (stage_ == Stage::index) name_shards({std::string(k_single_file)});
    stage_ = *file->next_if_missing;
    return {};
  }
  failed_ = true;
  const std::string& name = files_.checkpoint.name;
  switch (stage_) {
    case Stage::gguf_header: return fail(ErrorCode::not_found, fmt::format("There is no file {}.", name));
    case Stage::tensor_cache:
      return fail(
          ErrorCode::not_found,
          fmt::format("{} has neither ndarray-cache.json nor tensor-cache.json, expected one of them beside "
                      "mlc-chat-config.json.",
                      name));
    case Stage::config:
      return fail(
          ErrorCode::not_found,
          fmt::format("{} has neither mlc-chat-config.json nor config.json, expected a model's folder.",
                      name));
    case Stage::safetensors_header:
      return fail(ErrorCode::not_found, fmt::format("{} has no {}, which {}.", name, range->file,
                                                    index_ ? "model.safetensors.index.json names"
                                                           : "its config.json needs beside it"));
    default:
      return fail(ErrorCode::not_found,
                  fmt::format("{} has no {}, which every model has.", name, range->file));
  }
}

Result<void> CheckpointReader::supply_text(const TextFile& file, Bytes bytes, std::uint64_t n_file_bytes) {
  if (n_file_bytes > file.most_bytes) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} has {} bytes, expected at most {}.", file.name,
                                                     n_file_bytes, file.most_bytes));
  }
  if (bytes.size() != n_file_bytes) {
    return fail(ErrorCode::io,
                fmt::format("{} gives {} of its {} bytes.", file.name, bytes.size(), n_file_bytes));
  }
  if (const auto wrong = sniff_wrong_file(bytes)) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} {}", file.name, *wrong));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (auto taken = take_text(text, file.name); !taken) return taken;
  if (file.text != nullptr) files_.texts.*file.text = std::string(text);
  stage_ = file.next;
  return {};
}

// What has to be known now; other texts are kept for whoever reads them later.
Result<void> CheckpointReader::take_text(std::string_view text, std::string_view file) {
  switch (stage_) {
    case Stage::mlc_chat_config: return check_mlc_quantisation(text, file);
    case Stage::ndarray_cache:
    case Stage::tensor_cache: {
      auto checkpoint = parse_mlc_manifest(text, file, files_.checkpoint.name);
      if (!checkpoint) return forward(checkpoint);
      files_.kind = CheckpointKind::mlc;
      files_.checkpoint = std::move(*checkpoint);
      return {};
    }
    case Stage::config: {
      auto config = parse_json_unique(text, file);
      if (!config) return forward(config);
      auto affine = read_affine_config(*config, file);
      if (!affine) return forward(affine);
      affine_ = std::move(*affine);
      return {};
    }
    case Stage::index: {
      auto index = parse_safetensors_index(text, file);
      if (!index) return forward(index);
      index_ = std::move(*index);
      name_shards(index_->files);
      return {};
    }
    default: return {};
  }
}

void CheckpointReader::name_shards(std::vector<std::string> names) {
  files_.kind = CheckpointKind::safetensors;
  for (std::string& name : names)
    files_.checkpoint.files.push_back({.name = std::move(name), .n_bytes = 0, .md5 = {}});
  n_header_bytes_ = k_first_safetensors_bytes;
}

Result<void> CheckpointReader::supply_header(Bytes bytes, std::uint64_t n_file_bytes) {
  const auto range = wanted();
  const std::uint64_t left = n_file_bytes - std::min<std::uint64_t>(n_file_bytes, range->offset);
  if (bytes.size() != std::min(range->n_bytes, left) ||
      n_file_bytes_.value_or(n_file_bytes) != n_file_bytes) {
    return fail(
        ErrorCode::io,
        fmt::format(
            "{} gives {} bytes at offset {} of {}, expected {}; it may have changed while it was read.",
            range->file, bytes.size(), range->offset, n_file_bytes, std::min(range->n_bytes, left)));
  }
  n_file_bytes_ = n_file_bytes;
  header_.insert(header_.end(), bytes.begin(), bytes.end());
  return stage_ == Stage::gguf_header ? supply_gguf(n_file_bytes) : supply_safetensors(n_file_bytes);
}

Result<void> CheckpointReader::supply_gguf(std::uint64_t n_file_bytes) {
  auto progress = parse_gguf(header_, files_.checkpoint.name, n_file_bytes);
  if (!progress) return forward(progress);
  if (const auto* need = std::get_if<NeedBytes>(&*progress)) {
    // Doubling keeps the number of requests small; the parser's figure is a lower bound.
    n_header_bytes_ = std::min(n_file_bytes, std::max<std::uint64_t>(need->n_bytes, 2 * header_.size()));
    return {};
  }
  auto& gguf = std::get<GgufFile>(*progress);
  files_.kind = CheckpointKind::gguf;
  files_.checkpoint = std::move(gguf.checkpoint);
  files_.gguf = std::move(static_cast<GgufHeader&>(gguf));
  header_ = {};
  const TensorRecord* factors = files_.checkpoint.find(k_rope_factors);
  const bool is_small =
      factors != nullptr && factors->dtype == Dtype::f32 && factors->n_bytes() <= k_rope_factors_bytes;
  stage_ = is_small ? Stage::rope_factors : Stage::done;
  return {};
}

Result<void> CheckpointReader::supply_rope_factors(Bytes bytes) {
  const WantedRange range = *wanted();
  if (bytes.size() != range.n_bytes) {
    return fail(ErrorCode::io, fmt::format("{} gives {} bytes at offset {}, expected {}.", range.file,
                                           bytes.size(), range.offset, range.n_bytes));
  }
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    files_.rope_factors.push_back(load_as<float>(bytes, at));
  }
  stage_ = Stage::done;
  return {};
}

Result<void> CheckpointReader::supply_safetensors(std::uint64_t n_file_bytes) {
  CheckpointFile& shard = files_.checkpoint.files[next_shard_];
  auto progress =
      parse_safetensors(header_, shard.name, n_file_bytes, static_cast<std::uint32_t>(next_shard_));
  if (!progress) return forward(progress);
  if (const auto* need = std::get_if<NeedBytes>(&*progress)) {
    n_header_bytes_ = need->n_bytes;
    return {};
  }
  auto& tensors = std::get<std::vector<RawTensor>>(*progress);
  raw_.insert(raw_.end(), std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
  shard.n_bytes = n_file_bytes;
  header_.clear();
  n_header_bytes_ = k_first_safetensors_bytes;
  n_file_bytes_ = std::nullopt;
  if (++next_shard_ < files_.checkpoint.files.size()) return {};
  return finish_safetensors();
}

Result<void> CheckpointReader::finish_safetensors() {
  header_ = {};
  if (auto checked = check_raw_tensors(raw_, files_.checkpoint.files); !checked) return checked;
  if (index_) {
    if (auto checked = check_safetensors_index(*index_, raw_, "model.safetensors.index.json"); !checked)
      return checked;
  }
  if (auto joined = join_mlx_tensors(raw_, affine_, files_.checkpoint); !joined) return joined;
  raw_ = {};
  stage_ = Stage::tokenizer;
  return {};
}

ModelFiles CheckpointReader::take() {
  check(stage_ == Stage::done && !failed_, "a model is taken once all of it is read");
  return std::move(files_);
}

}  // namespace ztvm::load
