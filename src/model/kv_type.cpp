#include "model/kv_type.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ztvm::model {

Result<KvType> parse_kv_type(std::string_view name) {
  const auto found = std::ranges::find(k_kv_type_names, name);
  if (found != k_kv_type_names.end()) return static_cast<KvType>(found - k_kv_type_names.begin());
  return fail(ErrorCode::invalid_argument, fmt::format("KV cache type \"{}\" is not known, expected {}.",
                                                       name, fmt::join(k_kv_type_names, " or ")));
}

}  // namespace ztvm::model
