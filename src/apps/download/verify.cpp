#include "apps/download/verify.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "apps/download/content_hash.hpp"
#include "apps/download/durable.hpp"
#include "apps/download/repo_files.hpp"
#include "load/sniff.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

// What a file should be.
struct Expected {
  RecordedFile file;
  std::string md5;
};

bool has_file(const fs::path& folder, const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(folder / name, error);
}

// The weights that the folder's own manifest names.
Result<ShardList> local_shards(const fs::path& folder) {
  using Reader = Result<ShardList> (*)(std::string_view, std::string_view);
  constexpr std::pair<const char*, Reader> k_manifests[] = {
      {"ndarray-cache.json", read_mlc_shards},
      {"tensor-cache.json", read_mlc_shards},
      {"model.safetensors.index.json", read_index_shards}};
  for (const auto& [name, reader] : k_manifests) {
    if (!has_file(folder, name)) continue;
    const auto text = read_text(folder / name, k_max_manifest_bytes);
    if (!text) return std::unexpected(text.error());
    return reader(*text, fmt::format("\"{}\"", (folder / name).string()));
  }
  if (has_file(folder, "model.safetensors")) return ShardList{.shards = {{.name = "model.safetensors"}}};
  ShardList list;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(".gguf") && is_plain_name(name)) list.shards.push_back({.name = name});
  }
  if (!list.shards.empty()) return list;
  return fail(ErrorCode::not_found,
              fmt::format("\"{}\" holds no model: no {}, no index or manifest of weights, no .gguf file.",
                          folder.string(), record_path(folder).filename().string()));
}

// Everything a folder without a record should hold: the weights of its manifest, and the text files it has.
Result<std::vector<Expected>> expected_of_manifest(const fs::path& folder) {
  auto list = local_shards(folder);
  if (!list) return forward(list);
  std::vector<Expected> expected;
  for (const char* name : {"mlc-chat-config.json", "ndarray-cache.json", "tensor-cache.json", "config.json",
                           "generation_config.json", "model.safetensors.index.json", "tokenizer.json",
                           "tokenizer_config.json", "chat_template.jinja"}) {
    if (has_file(folder, name)) expected.push_back({.file = {.name = name}});
  }
  for (ShardFile& shard : list->shards) {
    expected.push_back({.file = {.name = shard.name, .n_bytes = shard.n_bytes}, .md5 = shard.md5});
  }
  return expected;
}

// The fault of one file, empty when it is right. `file` gets length and sha256.
Result<std::string> fault_of(const fs::path& folder, const Expected& expected, RecordedFile& file,
                             const HashProgress& progress) {
  if (!has_file(folder, expected.file.name)) return "It is missing.";
  std::error_code error;
  const std::uint64_t n_bytes = fs::file_size(folder / expected.file.name, error);
  if (!error && expected.file.n_bytes && n_bytes != *expected.file.n_bytes) {
    return fmt::format("It has {} bytes, expected {}.", n_bytes, *expected.file.n_bytes);
  }
  auto hashes = hash_file(folder / expected.file.name, progress);
  if (!hashes) return forward(hashes);
  file = {.name = expected.file.name, .n_bytes = hashes->n_bytes, .sha256 = hashes->sha256};
  if (!expected.file.sha256.empty() && hashes->sha256 != expected.file.sha256) {
    return fmt::format("It has sha256 {}, expected {}.", hashes->sha256, expected.file.sha256);
  }
  if (!expected.md5.empty() && hashes->md5 != expected.md5) {
    return fmt::format("It has md5 {}, expected {}.", hashes->md5, expected.md5);
  }
  const bool is_known = !expected.md5.empty() || !expected.file.sha256.empty();
  if (const auto wrong = load::sniff_wrong_file(hashes->head); wrong && !is_known)
    return fmt::format("It {}", *wrong);
  return std::string();
}

// Adds the files that `record` lacks. Errors: as record_folder().
Result<void> record_missing(const fs::path& folder, const VerifyProgress& progress, FolderRecord& record) {
  auto expected = expected_of_manifest(folder);
  if (!expected) return forward(expected);
  for (const Expected& one : *expected) {
    if (record.find(one.file.name) != nullptr) continue;
    RecordedFile file;
    auto fault = fault_of(folder, one, file, [&](std::uint64_t n_done) {
      return !progress || progress(one.file.name, n_done, one.file.n_bytes.value_or(n_done));
    });
    if (!fault) return forward(fault);
    if (!fault->empty()) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("\"{}\": {}", (folder / one.file.name).string(), *fault));
    }
    record.put(std::move(file));
  }
  record.complete = true;
  return {};
}

}  // namespace

Result<void> record_folder(const fs::path& folder, const VerifyProgress& progress) {
  if (::access(folder.c_str(), W_OK) != 0) return {};
  const auto lock = FolderLock::take(folder);
  if (!lock) return std::unexpected(lock.error());
  auto known = read_record(folder);
  if (!known) return forward(known);
  if (*known && !(*known)->is_partial()) return {};
  FolderRecord record = known->value_or(FolderRecord{});
  const std::size_t n_before = record.files.size();
  auto done = record_missing(folder, progress, record);
  if (record.files.size() == n_before && !record.complete) return done;
  if (auto written = write_record(folder, record); !written) return written;
  return done;
}

Result<VerifyReport> verify_folder(const fs::path& folder, const VerifyProgress& progress) {
  auto record = read_record(folder);
  if (!record) return forward(record);
  std::vector<Expected> expected;
  const bool is_recorded = *record && !(*record)->is_partial();
  if (is_recorded) {
    for (const RecordedFile& file : (*record)->files) expected.push_back({.file = file});
  } else {
    auto from_manifest = expected_of_manifest(folder);
    if (!from_manifest) return forward(from_manifest);
    expected = std::move(*from_manifest);
    for (Expected& one : expected) {
      const RecordedFile* known = *record ? (*record)->find(one.file.name) : nullptr;
      if (known != nullptr) one.file = *known;
    }
  }
  FolderRecord fresh{.complete = true};
  VerifyReport report{.n_files = expected.size()};
  for (const Expected& one : expected) {
    RecordedFile file;
    auto fault = fault_of(folder, one, file, [&](std::uint64_t n_done) {
      return !progress || progress(one.file.name, n_done, one.file.n_bytes.value_or(n_done));
    });
    if (!fault) return forward(fault);
    report.n_bytes += file.n_bytes.value_or(0);
    if (!fault->empty()) report.faults.push_back({one.file.name, std::move(*fault)});
    fresh.put(std::move(file));
  }
  if (is_recorded && !(*record)->complete && report.faults.empty()) {
    report.faults.push_back({"the download", "It has not ended yet."});
  }
  if (!is_recorded && report.faults.empty()) {
    const auto written = write_record(folder, fresh);
    report.newly_recorded = written.has_value();
    if (!written) report.not_recorded = written.error().text;
  }
  return report;
}

}  // namespace ztvm::app
