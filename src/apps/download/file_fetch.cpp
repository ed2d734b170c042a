#include "apps/download/file_fetch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/download/content_check.hpp"
#include "load/sniff.hpp"

namespace ztvm::app {
namespace {

using Problem = FileFetch::Ask::Problem;
using Kind = FileFetch::Outcome::Kind;

constexpr std::uint32_t k_max_rounds = 3;
constexpr std::uint64_t k_progress_bytes = 1
                                           << 20;  // new ones, that count as progress although an ask failed

}  // namespace

Error other_contents(const std::filesystem::path& path, const std::string& url) {
  return {
      ErrorCode::invalid_argument,
      fmt::format("\"{}\" holds something else than {}, and no record says that it came from there; move it "
                  "away, or name another folder with --to.",
                  path.string(), url)};
}

bool FileFetch::Ask::stop(Problem found, std::string reason, ErrorCode error_code) {
  problem = found;
  why = std::move(reason);
  code = error_code;
  return false;
}

FileFetch::FileFetch(const std::filesystem::path& folder, WantedFile wanted, std::uint64_t piece_bytes)
    : path_(folder / wanted.name), wanted_(std::move(wanted)), piece_bytes_(piece_bytes) {}

Result<void> FileFetch::begin() {
  auto part = PartFile::reopen(path_);
  if (!part) return forward(part);
  if (!*part) return {};
  const RemoteFile& remote = (*part)->remote();
  const bool is_other_length = wanted_.n_bytes && *wanted_.n_bytes != remote.n_bytes;
  const bool is_other_content =
      !wanted_.sha256.empty() && !remote.sha256.empty() && wanted_.sha256 != remote.sha256;
  if (is_other_length || is_other_content || remote.n_bytes > wanted_.max_bytes) return {};
  if (!has_version(remote)) return {};
  adopt_part(std::move(**part));
  n_furthest_ = n_bytes_done();
  return {};
}

void FileFetch::adopt_part(PartFile part) {
  part_ = std::move(part);
  pieces_.assign(part_->n_pieces(), {});
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (part_->is_finished(i)) pieces_[i].n_done = piece_length(i);
  }
  whole_ = std::ranges::all_of(pieces_, [](const Piece& piece) { return piece.n_done > 0; });
}

std::uint64_t FileFetch::piece_length(std::size_t piece) const {
  return part_->piece_end(piece) - part_->piece_begin(piece);
}

std::optional<FileFetch::Ask> FileFetch::next_ask() {
  if (whole_) return std::nullopt;
  const bool alone = !part_ || !confirmed_ || one_at_a_time_ || is_single_;
  if (alone && n_asked_ > 0) return std::nullopt;
  Ask ask{.round = round_};
  if (!part_ || is_single_) {
    if (!without_range_) ask.range = HttpRange{.first = 0, .last = piece_bytes_ - 1};
  } else {
    const auto free = std::ranges::find_if(pieces_, [&](const Piece& piece) {
      const auto i = static_cast<std::size_t>(&piece - pieces_.data());
      return !piece.is_asked && piece.n_done < piece_length(i);
    });
    if (free == pieces_.end()) return std::nullopt;
    ask.piece = static_cast<std::size_t>(free - pieces_.begin());
    free->is_asked = true;
    const std::uint64_t first = part_->piece_begin(ask.piece) + free->n_done;
    if (!without_range_) ask.range = HttpRange{.first = first, .last = part_->piece_end(ask.piece) - 1};
  }
  ++n_asked_;
  return ask;
}

bool FileFetch::take_body(Ask& ask, Bytes bytes) {
  if (ask.round != round_) return false;
  const std::uint64_t limit = ask.end == UINT64_MAX ? wanted_.n_bytes.value_or(wanted_.max_bytes) : ask.end;
  if (bytes.size() > limit - std::min(limit, ask.cursor)) {
    return ask.stop(Problem::fatal, fmt::format("{} sends more bytes than expected, {}.", wanted_.url, limit),
                    ErrorCode::corrupt_file);
  }
  if (auto written = part_->write(ask.cursor, bytes); !written) {
    return ask.stop(Problem::fatal, written.error().text, written.error().code);
  }
  mark_done(ask, ask.cursor + bytes.size());
  return ask.problem == Problem::none;
}

// The ask has brought every byte from where it began to `until`.
void FileFetch::mark_done(Ask& ask, std::uint64_t until) {
  const std::uint64_t from = std::exchange(ask.cursor, until);
  if (is_single_) {
    n_single_done_ = until;
    return;
  }
  for (std::size_t i = from / part_->piece_bytes(); i < pieces_.size() && part_->piece_begin(i) < until;
       ++i) {
    Piece& piece = pieces_[i];
    const std::uint64_t n_done = std::min(until, part_->piece_end(i)) - part_->piece_begin(i);
    if (n_done <= piece.n_done) continue;
    piece.n_done = n_done;
    if (n_done < piece_length(i)) continue;
    if (auto finished = part_->finish_piece(i); !finished) ask.stop(Problem::fatal, finished.error().text);
  }
}

FileFetch::Outcome FileFetch::fail_with(ErrorCode code, std::string text) const {
  return {.kind = Kind::failed, .error = {code, std::move(text)}};
}

FileFetch::Outcome FileFetch::retry_with(std::string text) const {
  return {.kind = Kind::retry, .error = {ErrorCode::io, std::move(text)}};
}

void FileFetch::begin_anew() {
  part_.reset();
  PartFile::discard(path_);
  pieces_.clear();
  confirmed_ = false;
  is_single_ = false;
  n_single_done_ = 0;
  n_furthest_ = 0;  // of this beginning; there are few
  whole_ = false;
  ++round_;
}

// True when the file has got further than ever since it was begun: bytes that come a second time are none.
bool FileFetch::note_progress(std::uint64_t n_least) {
  const std::uint64_t n_done = n_bytes_done();
  if (n_done < n_furthest_ + n_least) return false;
  n_furthest_ = n_done;
  return true;
}

FileFetch::Outcome FileFetch::end_ask(Ask& ask, const HttpEnd& end) {
  --n_asked_;
  if (ask.round != round_) return {};
  if (ask.piece < pieces_.size()) pieces_[ask.piece].is_asked = false;
  const auto with_progress = [&](Outcome outcome) {
    outcome.progressed = note_progress(outcome.kind == Kind::fine ? 1 : k_progress_bytes);
    return outcome;
  };
  if (ask.problem != Problem::none) return with_progress(outcome_of_problem(ask));
  if (end.kind == HttpEnd::Kind::refused) {
    return fail_with(ErrorCode::io, fmt::format("Cannot fetch {}: {}.", wanted_.url, end.problem));
  }
  if (end.kind == HttpEnd::Kind::cut) {
    return with_progress(retry_with(fmt::format("{}: {}", wanted_.url, end.problem)));
  }
  if (end.head.status != 200 && end.head.status != 206)
    return with_progress(outcome_of_status(ask, end.head));
  if (ask.end == UINT64_MAX) finish_unsized(ask);
  if (ask.problem != Problem::none) return with_progress(outcome_of_problem(ask));
  if (ask.cursor < ask.end) {
    return with_progress(
        retry_with(fmt::format("{} ends at byte {}, expected {}", wanted_.url, ask.cursor, ask.end)));
  }
  whole_ = is_single_ || std::ranges::all_of(pieces_, [this](const Piece& piece) {
             return piece.n_done == piece_length(static_cast<std::size_t>(&piece - pieces_.data()));
           });
  return with_progress({});
}

// A body without a length has ended well, so that its length is known now.
void FileFetch::finish_unsized(Ask& ask) {
  ask.end = ask.cursor;
  if (wanted_.n_bytes && *wanted_.n_bytes != ask.cursor) {
    ask.stop(Problem::again,
             fmt::format("{} has {} bytes, expected {}", wanted_.url, ask.cursor, *wanted_.n_bytes));
  }
}

FileFetch::Outcome FileFetch::outcome_of_problem(const Ask& ask) {
  switch (ask.problem) {
    case Problem::fatal: return fail_with(ask.code, ask.why);
    case Problem::again: return retry_with(ask.why);
    case Problem::here: return {.kind = Kind::here};
    case Problem::none:
    case Problem::alone: return {};
    case Problem::anew: break;
  }
  begin_anew();
  if (round_ >= k_max_rounds)
    return fail_with(ErrorCode::io, fmt::format("{}, each time it is tried.", ask.why));
  return {};
}

FileFetch::Outcome FileFetch::outcome_of_status(const Ask& ask, const HttpHead& head) {
  const std::string answer = fmt::format("{} answers with status {}", wanted_.url, head.status);
  switch (head.status) {
    case 404:
    case 410:
      if (wanted_.optional) return {.kind = Kind::absent};
      return fail_with(ErrorCode::not_found, answer + ": the file does not exist.");
    case 401:
    case 403:
      return fail_with(ErrorCode::not_found, answer + ": the repository does not exist or needs a login.");
    case 416:
      begin_anew();
      without_range_ = ask.range && ask.range->first == 0;
      if (round_ < k_max_rounds) return {};
      return fail_with(ErrorCode::io, answer + ", each time it is tried.");
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: {
      Outcome outcome = retry_with(answer);
      outcome.asked_wait_s = head.retry_after_s;
      outcome.slow_down = head.status == 429 || head.status == 503;
      return outcome;
    }
    default: return fail_with(ErrorCode::io, answer + ", expected 200 or 206.");
  }
}

FileFetch::Outcome FileFetch::check_hashes(const ContentHashes& hashes) {
  std::string difference;
  const auto compare = [&](std::string_view kind, const std::string& got, const std::string& expected) {
    if (expected.empty() || got == expected || !difference.empty()) return;
    difference = fmt::format("{} has {} {}, expected {}", wanted_.url, kind, got, expected);
  };
  compare("sha256", hashes.sha256, wanted_.sha256);
  compare("sha256", hashes.sha256, part_->remote().sha256);
  compare("md5", hashes.md5, wanted_.md5);
  const bool is_known = !wanted_.sha256.empty() || has_published_hash();
  if (const auto wrong = load::sniff_wrong_file(hashes.head); wrong && !is_known) {
    begin_anew();
    return fail_with(ErrorCode::corrupt_file, fmt::format("{} {}", wanted_.url, *wrong));
  }
  const auto unfit = difference.empty() ? wrong_contents(part_path(), wanted_.name, hashes) : std::nullopt;
  if (unfit) {
    begin_anew();
    return fail_with(ErrorCode::corrupt_file, fmt::format("{} {}", wanted_.url, *unfit));
  }
  if (difference.empty() && !wanted_.here_sha256.empty() && hashes.sha256 != wanted_.here_sha256) {
    begin_anew();
    return {.kind = Kind::failed, .error = other_contents(path_, wanted_.url)};
  }
  if (difference.empty()) return {};
  begin_anew();
  if (round_ < k_max_rounds) return retry_with(difference);
  return fail_with(ErrorCode::corrupt_file, difference + ", each time it is downloaded.");
}

Result<void> FileFetch::commit() {
  auto committed = part_->commit();
  part_.reset();
  return committed;
}

void FileFetch::drop_single() {
  if (part_ && is_single_) begin_anew();
}

std::uint64_t FileFetch::n_bytes_done() const {
  std::uint64_t n_done = n_single_done_;
  for (const Piece& piece : pieces_) n_done += piece.n_done;
  return n_done;
}

std::optional<std::uint64_t> FileFetch::n_bytes() const {
  if (wanted_.n_bytes) return wanted_.n_bytes;
  if (part_ && !is_single_) return part_->remote().n_bytes;
  if (part_ && n_single_bytes_ > 0) return n_single_bytes_;
  return std::nullopt;
}

}  // namespace ztvm::app
