// What FileFetch makes of the head of an answer: whether its body is wanted, and where it belongs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/download/content_range.hpp"
#include "apps/download/file_fetch.hpp"
#include "base/in_quotes.hpp"

namespace ztvm::app {
namespace {

using Problem = FileFetch::Ask::Problem;

}  // namespace

bool FileFetch::take_head(Ask& ask, const HttpHead& head) {
  if (ask.round != round_) return false;
  if (!head.content_encoding.empty() && head.content_encoding != "identity") {
    return ask.stop(Problem::fatal,
                    fmt::format("{} comes with Content-Encoding {}, expected the bytes as they are.",
                                wanted_.url, in_quotes(head.content_encoding)));
  }
  return head.status == 206 ? admit_range(ask, head) : admit_whole(ask, head);
}

bool FileFetch::admit_range(Ask& ask, const HttpHead& head) {
  const auto got = parse_content_range(head.content_range);
  const auto wrong = [&](std::string_view expected) {
    return ask.stop(Problem::again, fmt::format("{} answers with Content-Range {}, expected {}", wanted_.url,
                                                in_quotes(head.content_range), expected));
  };
  if (!ask.range) return wrong("the whole file");
  const std::string expected = fmt::format("bytes {}-{}", ask.range->first, ask.range->last);
  if (!got || got->first != ask.range->first) return wrong(expected);
  if (got->last != std::min(ask.range->last, got->n_file_bytes - 1)) return wrong(expected);
  const std::uint64_t n_range_bytes = got->last - got->first + 1;
  if (head.n_body_bytes && *head.n_body_bytes != n_range_bytes) {
    return wrong(fmt::format("one for a body of {} bytes", *head.n_body_bytes));
  }
  if (!admit(ask, got->n_file_bytes, head)) return false;
  ask.cursor = got->first;
  ask.end = got->last + 1;
  return true;
}

bool FileFetch::admit_whole(Ask& ask, const HttpHead& head) {
  one_at_a_time_ = true;
  if (n_asked_ > 1) return ask.stop(Problem::alone, {});  // it is asked again when the others have ended
  if (!admit(ask, head.n_body_bytes, head)) return false;
  ask.whole = true;
  ask.cursor = 0;
  ask.end = head.n_body_bytes.value_or(UINT64_MAX);
  return true;
}

// Holds an answer against what is expected and against the version the part is bound to.
bool FileFetch::admit(Ask& ask, std::optional<std::uint64_t> n_bytes, const HttpHead& head) {
  if (n_bytes && wanted_.n_bytes && *n_bytes != *wanted_.n_bytes) {
    return ask.stop(Problem::fatal,
                    fmt::format("{} has {} bytes, expected {}.", wanted_.url, *n_bytes, *wanted_.n_bytes),
                    ErrorCode::corrupt_file);
  }
  if (n_bytes && *n_bytes > wanted_.max_bytes) {
    return ask.stop(
        Problem::fatal,
        fmt::format("{} has {} bytes, expected at most {}.", wanted_.url, *n_bytes, wanted_.max_bytes),
        ErrorCode::corrupt_file);
  }
  RemoteFile remote{.n_bytes = n_bytes.value_or(0),
                    .tag = head.linked_tag.empty() ? head.tag : head.linked_tag,
                    .sha256 = is_hex(head.linked_tag, 64) ? head.linked_tag : std::string()};
  if (!remote.sha256.empty() && !wanted_.sha256.empty() && remote.sha256 != wanted_.sha256) {
    return ask.stop(Problem::fatal,
                    fmt::format("{} has sha256 {}, expected {}: the repository has changed.", wanted_.url,
                                remote.sha256, wanted_.sha256),
                    ErrorCode::corrupt_file);
  }
  if (!wanted_.here_sha256.empty() && !remote.sha256.empty()) {
    if (remote.sha256 == wanted_.here_sha256) return ask.stop(Problem::here, {});
    Error other = other_contents(path_, wanted_.url);
    return ask.stop(Problem::fatal, std::move(other.text), other.code);
  }
  const bool is_bound = part_ && part_->piece_bytes() > 0;
  if (is_bound && n_bytes) {
    confirmed_ = part_->remote() == remote;
    if (confirmed_) return true;
    return ask.stop(Problem::anew, fmt::format("{} changed while it was downloaded", wanted_.url));
  }
  is_single_ = !n_bytes || !has_version(remote);
  if (is_single_ && head.status == 206 && ask.range->last + 1 < *n_bytes) {
    without_range_ = true;
    return ask.stop(Problem::alone, {});
  }
  return start_part(ask, remote);
}

// Something tells this version of the file from another: now, or when it is whole.
bool FileFetch::has_version(const RemoteFile& remote) const {
  return !remote.tag.empty() || !remote.sha256.empty() || !wanted_.sha256.empty() || !wanted_.md5.empty();
}

bool FileFetch::start_part(Ask& ask, const RemoteFile& remote) {
  auto part = is_single_ ? PartFile::create_unsized(path_) : PartFile::create(path_, remote, piece_bytes_);
  if (!part) return ask.stop(Problem::fatal, part.error().text);
  adopt_part(std::move(*part));
  whole_ = false;  // of an empty file, only when its answer ends
  confirmed_ = true;
  n_single_done_ = 0;
  n_single_bytes_ = remote.n_bytes;
  if (!pieces_.empty()) pieces_[ask.piece].is_asked = true;
  return true;
}

}  // namespace ztvm::app
