#include "apps/cli/scored_set.hpp"

#include <fmt/format.h>

#include <charconv>

#include "apps/cli/command.hpp"

namespace ztvm::app {
namespace {

Result<std::uint32_t> parse_rows(std::string_view text) {
  std::uint32_t rows = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
  if (error == std::errc() && end == text.data() + text.size() && rows >= 1) return rows;
  return fail(ErrorCode::invalid_argument, fmt::format("\"{}\" is no number of rows.", text));
}

template <typename T, typename Member>
Result<void> put(Result<T> value, Member& to) {
  if (!value) return forward(value);
  to = *value;
  return {};
}

Result<void> change(ScoredSet& set, std::string_view text) {
  const std::size_t n_key = text.find('=');
  const std::string_view key = text.substr(0, n_key);
  const std::string_view value = n_key == std::string_view::npos ? "" : text.substr(n_key + 1);
  if (key == "kv") return put(model::parse_kv_type(value), set.model.kv);
  if (key == "kernels") return put(gpu::parse_target(value), set.model.target);
  if (key == "backend") return put(parse_backend(value), set.model.backend);
  if (key == "rows") return put(parse_rows(value), set.max_rows);
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("\"{}\" changes nothing that is known, expected kv=, kernels=, backend= or rows=.", text));
}

bool is_same(const ScoredSet& a, const ScoredSet& b) {
  return a.model.kv == b.model.kv && a.model.target == b.model.target && a.model.backend == b.model.backend &&
         a.max_rows == b.max_rows;
}

}  // namespace

Result<ScoredSet> change_set(const ScoredSet& set, std::span<const std::string> changes) {
  ScoredSet changed = set;
  for (const std::string& text : changes) {
    if (auto r = change(changed, text); !r) return forward(r);
  }
  if (!is_same(set, changed)) return changed;
  return fail(ErrorCode::invalid_argument, "The base is what is measured, so there is nothing to compare.");
}

std::string describe(const ScoredSet& set, const gpu::Caps& caps) {
  const gpu::Target target = set.model.target.value_or(gpu::choose_target(caps));
  const bool is_reference = set.model.backend == engine::Backend::reference;
  return fmt::format("{}{}, kv {}, {}", is_reference ? "oracles of " : "", gpu::describe(target),
                     model::to_string(set.model.kv),
                     set.max_rows == 0   ? "rows of prefill"
                     : set.max_rows == 1 ? "1 row a pass"
                                         : fmt::format("{} rows a pass", set.max_rows));
}

}  // namespace ztvm::app
