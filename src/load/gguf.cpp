#include "load/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "load/gguf_cursor.hpp"
#include "load/gguf_tensors.hpp"
#include "load/sniff.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint32_t k_magic = 0x46554747;          // "GGUF"
constexpr std::uint32_t k_swapped_magic = 0x47475546;  // the same by a big endian writer
constexpr std::uint64_t k_first_bytes = 256ull << 10;  // asked for at first; headers are 10 kB to 10 MB long
constexpr std::uint64_t k_default_alignment = 32;
constexpr std::uint64_t k_max_alignment = 1ull << 20;

void check_magic(GgufCursor& cursor, Bytes prefix) {
  if (const auto wrong = sniff_wrong_file(prefix)) {
    return cursor.fail(ErrorCode::corrupt_file, fmt::format("{} {}", cursor.file(), *wrong));
  }
  cursor.enter("the magic number");
  const auto magic = cursor.read<std::uint32_t>();
  if (!cursor.ok() || magic == k_magic) return;
  if (magic == k_swapped_magic) {
    return cursor.fail(ErrorCode::unsupported,
                       fmt::format("{} is a big endian GGUF, supported is little endian.", cursor.file()));
  }
  cursor.fail(
      ErrorCode::corrupt_file,
      fmt::format("{} is no GGUF: it starts with the bytes {:02x} {:02x} {:02x} {:02x}, expected \"GGUF\".",
                  cursor.file(), magic & 255u, (magic >> 8) & 255u, (magic >> 16) & 255u, magic >> 24));
}

std::uint32_t read_version(GgufCursor& cursor) {
  cursor.enter("the version");
  const auto version = cursor.read<std::uint32_t>();
  if (!cursor.ok() || version == 2 || version == 3) return version;
  const std::uint32_t swapped = std::byteswap(version);
  if (swapped >= 1 && swapped <= 3) {  // converters write the magic alike in both byte orders
    cursor.fail(ErrorCode::unsupported,
                fmt::format("{} is a big endian GGUF, supported is little endian.", cursor.file()));
  }
  cursor.fail(ErrorCode::unsupported,
              fmt::format("{} has GGUF version {}, supported are 2 and 3.", cursor.file(), version));
  return version;
}

Result<std::uint64_t> read_alignment(const GgufMetadata& metadata, std::string_view file) {
  auto alignment = metadata.find_uint("general.alignment");
  if (!alignment) return forward(alignment);
  const std::uint64_t value = alignment->value_or(k_default_alignment);
  if (std::has_single_bit(value) && value <= k_max_alignment) return value;
  return fail(
      ErrorCode::corrupt_file,
      fmt::format(
          "Metadata key \"general.alignment\" in {} has the value {}, expected a power of two up to {}.",
          file, value, k_max_alignment));
}

// The whole header; meaningless unless the cursor is ok() afterwards.
GgufFile read_header(GgufCursor& cursor, Bytes prefix) {
  GgufFile gguf;
  check_magic(cursor, prefix);
  gguf.version = read_version(cursor);
  cursor.enter("the tensor and metadata counts");
  const auto n_tensors = cursor.read<std::uint64_t>();
  const auto n_entries = cursor.read<std::uint64_t>();
  gguf.metadata = GgufMetadata::read(cursor, prefix, n_entries);
  gguf.checkpoint.tensors = read_gguf_tensors(cursor, n_tensors);
  return gguf;
}

}  // namespace

Result<GgufProgress> parse_gguf(Bytes prefix, std::string_view file, std::uint64_t n_file_bytes) {
  if (n_file_bytes == 0)
    return fail(ErrorCode::corrupt_file, fmt::format("{} is empty, expected a GGUF.", file));
  if (prefix.size() < std::min(n_file_bytes, k_sniff_bytes)) {
    return NeedBytes{.n_bytes = std::min(n_file_bytes, k_first_bytes)};
  }
  GgufCursor cursor(prefix, file, n_file_bytes);
  GgufFile gguf = read_header(cursor, prefix);
  if (cursor.n_wanted() != 0) {
    // Doubling keeps the number of attempts low, as each starts anew.
    const std::uint64_t wanted =
        std::max({cursor.n_wanted(), 2 * std::uint64_t{prefix.size()}, k_first_bytes});
    return NeedBytes{.n_bytes = std::min(n_file_bytes, wanted)};
  }
  if (!cursor.ok()) return std::unexpected(cursor.error());

  auto alignment = read_alignment(gguf.metadata, file);
  if (!alignment) return forward(alignment);
  gguf.alignment = *alignment;
  gguf.checkpoint.name = file;
  gguf.checkpoint.files = {{.name = std::string(file), .n_bytes = n_file_bytes}};
  const TensorArea area = {.file = file,
                           .n_file_bytes = n_file_bytes,
                           .first_byte = round_up(cursor.position(), gguf.alignment),
                           .alignment = gguf.alignment};
  if (auto placed = place_gguf_tensors(gguf.checkpoint.tensors, area); !placed) return forward(placed);
  return gguf;
}

}  // namespace ztvm::load
