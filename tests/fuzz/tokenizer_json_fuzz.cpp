// Any bytes as a tokenizer.json: they load or give an error, and what loads encodes and decodes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/tokenizer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n_bytes) {
  using namespace ztvm;
  const Result<text::Tokenizer> tokenizer =
      text::Tokenizer::from_json({reinterpret_cast<const char*>(data), n_bytes});
  if (!tokenizer) return 0;
  for (const std::string_view sample :
       {"Hello  world 123<|im_end|>\n", "\xF0\x9F\x98\x80 e\xCC\x81 \xFF\x80"}) {
    const std::vector<text::TokenId> ids = tokenizer->encode(sample, text::AddedTokens::on);
    check(tokenizer->decode(ids, true).has_value(), "ids that encode() gives must decode");
  }
  return 0;
}
