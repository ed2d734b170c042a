#include "apps/download/content_hash.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>

#include "apps/file_source.hpp"
#include "load/sniff.hpp"

namespace ztvm::app {
namespace {

constexpr std::size_t k_block_bytes = 1 << 20;

class Digest {
 public:
  explicit Digest(const EVP_MD* kind) : context_(::EVP_MD_CTX_new()) {
    check(context_ && ::EVP_DigestInit_ex(context_.get(), kind, nullptr) == 1, "libcrypto has this hash");
  }
  void update(Bytes bytes) {
    check(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "a hash takes bytes");
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
    unsigned n_bytes = 0;
    check(::EVP_DigestFinal_ex(context_.get(), digest.data(), &n_bytes) == 1, "a hash ends");
    std::string text;
    for (unsigned i = 0; i < n_bytes; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace

Result<ContentHashes> hash_file(const std::filesystem::path& path, const HashProgress& progress) {
  auto file = FileSource::open(path);
  if (!file) return forward(file);
  Digest sha256(::EVP_sha256());
  Digest md5(::EVP_md5());
  ContentHashes hashes{.n_bytes = file->n_bytes()};
  std::vector<std::byte> block(std::min<std::uint64_t>(k_block_bytes, file->n_bytes()));
  for (std::uint64_t offset = 0; offset < file->n_bytes(); offset += block.size()) {
    block.resize(std::min<std::uint64_t>(k_block_bytes, file->n_bytes() - offset));
    if (auto read = file->read(offset, block); !read) return forward(read);
    sha256.update(block);
    md5.update(block);
    if (offset == 0) {
      const std::size_t n_head = std::min<std::size_t>(block.size(), load::k_sniff_bytes);
      hashes.head.assign(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n_head));
    }
    if (progress && !progress(offset + block.size())) {
      return fail(ErrorCode::io, fmt::format("Reading \"{}\" is interrupted.", path.string()));
    }
  }
  hashes.sha256 = sha256.hex();
  hashes.md5 = md5.hex();
  return hashes;
}

std::string sha256_of(Bytes bytes) {
  Digest digest(::EVP_sha256());
  digest.update(bytes);
  return digest.hex();
}

bool is_hex(std::string_view text, std::size_t n_digits) {
  return text.size() == n_digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace ztvm::app
