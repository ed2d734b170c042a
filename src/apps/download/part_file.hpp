#pragma once
// A file that is not whole yet: NAME.part with the bytes, and NAME.part.journal with the pieces that are safely on disk.
//
// The journal is text: one line of JSON that binds it to one version of the remote file, then the number of a finished
// piece on each line. A piece's bytes are flushed to disk before its line is written, so that after a crash a line never
// promises what is not there; a last line that is torn is ignored.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ztvm::app {

// One version of a remote file.
struct RemoteFile {
  std::uint64_t n_bytes = 0;
  std::string tag;     // ETag, hub's tag or Last-Modified; empty: the server gives none
  std::string sha256;  // as the server tells it; empty: not told

  bool operator==(const RemoteFile&) const = default;
};

class PartFile {
 public:
  // What an earlier run left for `path`, or nothing when there is nothing usable. Errors: io.
  static Result<std::optional<PartFile>> reopen(const std::filesystem::path& path);
  // Begins anew; what an earlier run left is gone. Errors: io.
  static Result<PartFile> create(const std::filesystem::path& path, const RemoteFile& remote,
                                 std::uint64_t piece_bytes);
  // Begins a file whose length is not known; it has no journal and cannot be reopened. Errors: io.
  static Result<PartFile> create_unsized(const std::filesystem::path& path);
  // Removes what an earlier run left.
  static void discard(const std::filesystem::path& path);
  static bool exists(const std::filesystem::path& path);

  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&& other) noexcept;
  ~PartFile();

  const RemoteFile& remote() const { return remote_; }
  std::uint64_t piece_bytes() const { return piece_bytes_; }  // 0: its length is not known
  std::size_t n_pieces() const { return finished_.size(); }
  bool is_finished(std::size_t piece) const { return finished_[piece]; }
  std::uint64_t piece_begin(std::size_t piece) const { return piece * piece_bytes_; }
  std::uint64_t piece_end(std::size_t piece) const;
  std::filesystem::path part_path() const;

  // Errors: io, with what the disk says.
  Result<void> write(std::uint64_t offset, Bytes bytes);
  Result<void> finish_piece(std::size_t piece);
  // Gives the whole file its final name, on disk before this returns, and removes the journal. Errors: io.
  Result<void> commit();

 private:
  PartFile() = default;
  Result<void> open_files(bool fresh);
  std::unexpected<Error> fail_io(const char* what) const;

  std::filesystem::path path_;  // the final name
  RemoteFile remote_;
  std::uint64_t piece_bytes_ = 0;
  std::vector<bool> finished_;
  int part_fd_ = -1;
  int journal_fd_ = -1;
};

}  // namespace ztvm::app
