#pragma once
// Lengths and shapes in manifests and headers: whole numbers from 0 to 2^63 - 1, read with errors that name the field.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace ztvm::load {

// The field `key` of `object`, a length or an offset in bytes. `what` starts the sentence of an error.
Result<std::uint64_t> get_length(const Json& object, std::string_view key, std::string_view what);

// The field `key` of `object`, at most k_max_dims lengths, possibly none.
inline constexpr std::size_t k_max_dims = 8;
Result<std::vector<std::uint64_t>> get_lengths(const Json& object, std::string_view key,
                                               std::string_view what);

// The array or object in the field `key`; the object outlives the result.
Result<const Json*> get_array(const Json& object, std::string_view key, std::string_view what);
Result<const Json*> get_object(const Json& object, std::string_view key, std::string_view what);

// Elements of a tensor of this shape, 1 for none; nothing when they exceed 64 bits.
std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> shape);

// A file beside the manifest that names it: no path, so that a manifest cannot point outside the folder.
bool is_plain_file_name(std::string_view name);
// Such a name of weights: none of a config, a manifest, a tokenizer or a template.
bool is_shard_name(std::string_view name);

}  // namespace ztvm::load
