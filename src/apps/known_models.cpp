#include "apps/known_models.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace ztvm::app {

std::vector<KnownModel> known_models() {
  const auto table = parse_json(known_models_json(), "known_models.json");
  check(table && table->is_array(), "known_models.json is an array");
  std::vector<KnownModel> models;
  for (const Json& row : *table) {
    const auto alias = get_string(row, "alias", "known_models.json");
    const auto name = get_string(row, "name", "known_models.json");
    const auto repo = get_string(row, "repo", "known_models.json");
    const auto n_bytes = get_int(row, "bytes", "known_models.json");
    const auto about = get_string(row, "about", "known_models.json");
    check(alias && name && repo && n_bytes && about, "a row of known_models.json is whole");
    models.push_back({*alias, *name, *repo, static_cast<std::uint64_t>(*n_bytes), *about});
  }
  return models;
}

std::optional<KnownModel> find_known_model(std::string_view alias) {
  const std::vector<KnownModel> models = known_models();
  const auto found = std::ranges::find(models, alias, &KnownModel::alias);
  return found == models.end() ? std::nullopt : std::optional(*found);
}

}  // namespace ztvm::app
