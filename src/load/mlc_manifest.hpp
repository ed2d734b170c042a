#pragma once
// MLC's weights: ndarray-cache.json, or tensor-cache.json as newer compilers call it, lists tensors in raw shards.
// Format: apache/tvm web/runtime and python/tvm/contrib/tvmjs.py; quantisation q4f16_1 of mlc-ai/mlc-llm.
//
// - `format` of a record is "f32-to-bf16" whatever its dtype, so it isn't read: what is stored follows from dtype,
//   shape and nbytes. float32 with two bytes an element is bfloat16.
// - X.q_weight uint32 [.., n, k/8] and X.q_scale [.., n, k/32] are the matrix X.weight [.., n, k].
#include <string_view>

#include "load/checkpoint.hpp"

namespace ztvm::load {

// The checkpoint that the manifest `text` describes; `file` is the manifest's name, `folder` the checkpoint's.
// Errors: corrupt_file for whatever contradicts itself, half a quantised pair, a shard name that is a path; unsupported
// for a dtype without kernels. Each names the manifest or shard, and the tensor.
Result<Checkpoint> parse_mlc_manifest(std::string_view text, std::string_view file, std::string_view folder);

// Refuses an mlc-chat-config.json that names a quantisation other than q4f16_1 and none (q0f16, q0f32, q0bf16).
Result<void> check_mlc_quantisation(std::string_view text, std::string_view file);

}  // namespace ztvm::load
