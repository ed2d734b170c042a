#pragma once
// One file on its way from a server: which bytes to ask for next, what each answer means, and when it is whole.
// It knows answers, not connections; the Fetcher carries its asks out.
//
// The first ask is for one piece, and its answer tells length and version; then several connections may fetch pieces.
// A server that ignores ranges is read from the start, by one connection. Each answer is held against the version that the
// part file is bound to; when the remote file changed, the part is dropped and the file begun anew, twice at most.
// Without any version or hash nothing would tell pieces of two files apart: then one answer must bring all of it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/download/content_hash.hpp"
#include "apps/download/http_client.hpp"
#include "apps/download/part_file.hpp"

namespace ztvm::app {

// No file of a model is longer; a server that says so is wrong.
inline constexpr std::uint64_t k_max_file_bytes = std::uint64_t{1} << 40;

struct WantedFile {
  std::string name;  // in the folder
  std::string url;
  std::optional<std::uint64_t> n_bytes;        // as a manifest or record says
  std::uint64_t max_bytes = k_max_file_bytes;  // more is refused
  std::string md5;                             // as the manifest says; empty: it says none
  std::string sha256;                          // as a record says; empty: none
  bool optional = false;                       // the repository need not have it
  // Of a file that has this name already and is nobody's: only the same contents may take its place. Empty: there is none.
  std::string here_sha256;
};

// The sentence on a file that must not be replaced by another one's contents.
Error other_contents(const std::filesystem::path& path, const std::string& url);

class FileFetch {
 public:
  FileFetch(const std::filesystem::path& folder, WantedFile wanted, std::uint64_t piece_bytes);

  // Bytes that one connection is to bring.
  struct Ask {
    std::uint32_t round = 0;  // of the file's beginnings: answers of an earlier round are dropped
    std::size_t piece = 0;
    std::optional<HttpRange> range;
    bool whole = false;        // answered with the file from its start
    std::uint64_t cursor = 0;  // where the next byte of the body belongs
    std::uint64_t end = 0;     // where the body must end; UINT64_MAX: it does not say

    enum class Problem : std::uint8_t { none, again, alone, anew, here, fatal };
    Problem problem = Problem::none;  // found while the answer came
    ErrorCode code = ErrorCode::io;
    std::string why;

    // Notes a problem; false, for the callback to return.
    bool stop(Problem found, std::string reason, ErrorCode error_code = ErrorCode::io);
  };

  struct Outcome {
    enum class Kind : std::uint8_t {
      fine,    // go on asking
      retry,   // ask again after a wait
      absent,  // an optional file that the repository does not have
      here,    // the file in place has the contents that the server tells
      failed,
    };
    Kind kind = Kind::fine;
    Error error;  // of failed; its text is also the reason of retry
    std::optional<std::uint64_t> asked_wait_s;
    bool slow_down = false;   // the server has too much to do: no connection should ask now
    bool progressed = false;  // the file has got further than it ever was
  };

  const WantedFile& wanted() const { return wanted_; }
  const std::filesystem::path& path() const { return path_; }

  // Takes up what an earlier run left. Errors: io.
  Result<void> begin();
  // The next bytes to ask for, or nothing for now. Each ask must be given to end_ask once.
  std::optional<Ask> next_ask();
  bool take_head(Ask& ask, const HttpHead& head);
  bool take_body(Ask& ask, Bytes bytes);
  Outcome end_ask(Ask& ask, const HttpEnd& end);

  // All bytes are in the part file; check_hashes and commit are next.
  bool is_whole() const { return whole_; }
  std::filesystem::path part_path() const { return part_->part_path(); }
  // Compares contents with what is known of them. A mismatch begins the file anew (retry) or fails.
  Outcome check_hashes(const ContentHashes& hashes);
  // True when check_hashes() has something to go by that the hub or a manifest tells.
  bool has_published_hash() const { return !part_->remote().sha256.empty() || !wanted_.md5.empty(); }
  Result<void> commit();

  // Removes a part that no later run could go on from: one of a file whose length or version is not known.
  void drop_single();

  std::uint64_t n_bytes_done() const;
  // The length, once it is known.
  std::optional<std::uint64_t> n_bytes() const;

 private:
  struct Piece {
    bool is_asked = false;
    std::uint64_t n_done = 0;  // bytes from its begin; in memory only until the piece is finished
  };

  std::uint64_t piece_length(std::size_t piece) const;
  bool admit(Ask& ask, std::optional<std::uint64_t> n_bytes, const HttpHead& head);
  bool admit_range(Ask& ask, const HttpHead& head);
  bool admit_whole(Ask& ask, const HttpHead& head);
  bool has_version(const RemoteFile& remote) const;
  bool start_part(Ask& ask, const RemoteFile& remote);
  void adopt_part(PartFile part);
  void mark_done(Ask& ask, std::uint64_t until);
  void finish_unsized(Ask& ask);
  void begin_anew();
  bool note_progress(std::uint64_t n_least);
  Outcome outcome_of_status(const Ask& ask, const HttpHead& head);
  Outcome outcome_of_problem(const Ask& ask);
  Outcome fail_with(ErrorCode code, std::string text) const;
  Outcome retry_with(std::string text) const;

  std::filesystem::path path_;
  WantedFile wanted_;
  std::uint64_t piece_bytes_;
  std::optional<PartFile> part_;
  std::vector<Piece> pieces_;
  std::uint64_t n_single_done_ = 0;
  std::uint64_t n_single_bytes_ = 0;  // 0: not known
  std::uint64_t n_furthest_ = 0;      // the most bytes that counted as progress
  std::uint32_t round_ = 0;
  std::uint32_t n_asked_ = 0;   // asks that have not ended, of all rounds
  bool confirmed_ = false;      // an answer of this run has told the version that the part is bound to
  bool one_at_a_time_ = false;  // the server ignored a range
  bool without_range_ = false;  // the server refused a range from byte 0 on, or one answer must bring all
  bool is_single_ = false;      // one answer must bring all: the server tells no length, or no version
  bool whole_ = false;
};

}  // namespace ztvm::app
