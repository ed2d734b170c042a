#pragma once
// The components of a tokenizer.json, one function each. Errors: corrupt_file for a field that is missing or
// of the wrong type, unsupported for a component that this engine does not know; both name it.
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "text/added_tokens.hpp"
#include "text/decoder.hpp"
#include "text/normalizer.hpp"
#include "text/pretokenizer.hpp"

namespace ztvm::text {

inline constexpr std::string_view k_tokenizer_json = "tokenizer.json";

// A null or absent component is an empty one, except for the decoder, which must be there.
Result<Normalizer> parse_normalizer(const Json& root);

struct PreTokenizerParts {
  PreTokenizer steps;
  bool byte_level = false;
};
Result<PreTokenizerParts> parse_pretokenizer(const Json& root);
Result<DecoderPlan> parse_decoder(const Json& root);
Result<std::vector<AddedToken>> parse_added_tokens(const Json& root);
// The ids that the post-processor puts before a single text.
Result<std::vector<TokenId>> parse_bos_prefix(const Json& root);

// The components of `component`, which is null, one component, or a Sequence with its list under `list_key`.
// Sequences within Sequences are spliced in. Each component has a string "type".
Result<std::vector<Json>> flatten_components(const Json& component, std::string_view what,
                                             std::string_view list_key);
// A Replace, as a normalizer or a decoder.
Result<ReplaceText> parse_replace(const Json& component, std::string_view what);

// The value of `key`, or null when it is absent or `object` is no object.
const Json& field_or_null(const Json& object, std::string_view key);
// A field that may be absent or null. Errors: corrupt_file when it is something else than a bool.
Result<bool> get_bool_or(const Json& object, std::string_view key, std::string_view what, bool otherwise);

}  // namespace ztvm::text
