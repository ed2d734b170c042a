#include "apps/download/part_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "apps/download/durable.hpp"
#include "base/json.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

fs::path part_of(const fs::path& path) { return path.string() + ".part"; }
fs::path journal_of(const fs::path& path) { return path.string() + ".part.journal"; }

std::string first_line(const RemoteFile& remote, std::uint64_t piece_bytes) {
  OrderedJson line;
  line["bytes"] = remote.n_bytes;
  line["piece_bytes"] = piece_bytes;
  line["tag"] = remote.tag;
  line["sha256"] = remote.sha256;
  return dump_json(line) + "\n";
}

struct Journal {
  RemoteFile remote;
  std::uint64_t piece_bytes = 0;
  std::vector<bool> finished;
};

// Nothing when the text is no journal.
std::optional<Journal> parse_journal(std::string_view text) {
  const std::size_t n_first = text.find('\n');
  if (n_first == std::string_view::npos) return std::nullopt;
  const auto head = parse_json_unique(text.substr(0, n_first), "journal");
  if (!head) return std::nullopt;
  const auto n_bytes = get_int(*head, "bytes", "journal");
  const auto piece_bytes = get_int(*head, "piece_bytes", "journal");
  const auto tag = get_string(*head, "tag", "journal");
  const auto sha256 = get_string(*head, "sha256", "journal");
  if (!n_bytes || !piece_bytes || !tag || !sha256 || *n_bytes < 0 || *piece_bytes <= 0) return std::nullopt;
  Journal journal{.remote = {static_cast<std::uint64_t>(*n_bytes), *tag, *sha256},
                  .piece_bytes = static_cast<std::uint64_t>(*piece_bytes)};
  const std::uint64_t n_pieces = div_up(journal.remote.n_bytes, journal.piece_bytes);
  constexpr std::uint64_t k_max_pieces = 1 << 24;
  if (n_pieces > k_max_pieces) return std::nullopt;
  journal.finished.resize(n_pieces);
  for (std::string_view rest = text.substr(n_first + 1); !rest.empty();) {
    const std::size_t n_chars = rest.find('\n');
    if (n_chars == std::string_view::npos) break;  // torn
    std::size_t piece = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + n_chars, piece);
    if (error != std::errc() || end != rest.data() + n_chars || piece >= n_pieces) return std::nullopt;
    journal.finished[piece] = true;
    rest.remove_prefix(n_chars + 1);
  }
  return journal;
}

void close_one(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

Result<std::optional<PartFile>> PartFile::reopen(const fs::path& path) {
  std::error_code error;
  // Not through a link, which could lead out of the folder.
  for (const fs::path& own : {part_of(path), journal_of(path)}) {
    if (!fs::is_regular_file(fs::symlink_status(own, error))) return std::nullopt;
  }
  std::ifstream in(journal_of(path), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  auto journal = parse_journal(text);
  if (!journal) return std::nullopt;
  PartFile part;
  part.path_ = path;
  part.remote_ = std::move(journal->remote);
  part.piece_bytes_ = journal->piece_bytes;
  part.finished_ = std::move(journal->finished);
  // A part that is shorter than its finished pieces was cut by something else.
  const std::uint64_t n_on_disk = fs::file_size(part_of(path), error);
  for (std::size_t i = 0; i < part.finished_.size(); ++i) {
    if (part.finished_[i] && (error || part.piece_end(i) > n_on_disk)) return std::nullopt;
  }
  if (auto opened = part.open_files(false); !opened) return forward(opened);
  // A torn line must not become a number with what comes next.
  const auto n_whole = static_cast<off_t>(text.rfind('\n') + 1);
  if (::ftruncate(part.journal_fd_, n_whole) != 0) return part.fail_io("shorten the journal of");
  return part;
}

Result<PartFile> PartFile::create(const fs::path& path, const RemoteFile& remote, std::uint64_t piece_bytes) {
  discard(path);
  PartFile part;
  part.path_ = path;
  part.remote_ = remote;
  part.piece_bytes_ = piece_bytes;
  part.finished_.resize(div_up(remote.n_bytes, piece_bytes));
  if (auto opened = part.open_files(true); !opened) return forward(opened);
  const std::string line = first_line(remote, piece_bytes);
  if (!write_fully(part.journal_fd_, as_bytes(line))) return part.fail_io("write");
  return part;
}

Result<PartFile> PartFile::create_unsized(const fs::path& path) {
  discard(path);
  PartFile part;
  part.path_ = path;
  if (auto opened = part.open_files(true); !opened) return forward(opened);
  return part;
}

void PartFile::discard(const fs::path& path) {
  std::error_code ignored;
  fs::remove(journal_of(path), ignored);  // first: a journal without its part promises nothing
  fs::remove(part_of(path), ignored);
}

bool PartFile::exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(part_of(path), ignored);
}

Result<void> PartFile::open_files(bool fresh) {
  const int mode = O_RDWR | O_CREAT | O_CLOEXEC | (fresh ? O_TRUNC : 0);
  part_fd_ = ::open(part_of(path_).c_str(), mode, 0644);
  if (part_fd_ < 0) return fail_io("open");
  if (piece_bytes_ == 0) return {};
  journal_fd_ = ::open(journal_of(path_).c_str(), mode | O_APPEND, 0644);
  if (journal_fd_ < 0) return fail_io("open");
  return {};
}

PartFile::PartFile(PartFile&& other) noexcept { *this = std::move(other); }

PartFile& PartFile::operator=(PartFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(remote_, other.remote_);
  std::swap(piece_bytes_, other.piece_bytes_);
  std::swap(finished_, other.finished_);
  std::swap(part_fd_, other.part_fd_);
  std::swap(journal_fd_, other.journal_fd_);
  return *this;
}

PartFile::~PartFile() {
  close_one(part_fd_);
  close_one(journal_fd_);
}

std::unexpected<Error> PartFile::fail_io(const char* what) const {
  return fail(ErrorCode::io, fmt::format("Cannot {} \"{}\": {}.", what, part_of(path_).string(),
                                         std::generic_category().message(errno)));
}

std::uint64_t PartFile::piece_end(std::size_t piece) const {
  return std::min(remote_.n_bytes, (piece + 1) * piece_bytes_);
}

fs::path PartFile::part_path() const { return part_of(path_); }

Result<void> PartFile::write(std::uint64_t offset, Bytes bytes) {
  if (!write_fully_at(part_fd_, offset, bytes)) return fail_io("write");
  return {};
}

Result<void> PartFile::finish_piece(std::size_t piece) {
  finished_[piece] = true;
  if (::fdatasync(part_fd_) != 0) return fail_io("flush");
  const std::string line = fmt::format("{}\n", piece);
  if (!write_fully(journal_fd_, as_bytes(line))) return fail_io("write");
  return {};
}

Result<void> PartFile::commit() {
  if (::fsync(part_fd_) != 0) return fail_io("flush");
  if (::rename(part_of(path_).c_str(), path_.c_str()) != 0) return fail_io("rename");
  sync_folder(path_.parent_path());
  std::error_code ignored;
  fs::remove(journal_of(path_), ignored);
  return {};
}

}  // namespace ztvm::app
