#include "apps/cli/bench_json.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace ztvm::app {

Result<void> write_bench_text(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (out.flush()) return {};
  return fail(ErrorCode::io, fmt::format("Cannot write \"{}\".", path));
}

Result<void> write_bench_json(const std::string& path, const Json& json) {
  return write_bench_text(path, dump_json(json) + "\n");
}

}  // namespace ztvm::app
