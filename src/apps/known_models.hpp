#pragma once
// The models that have an alias of their own, and where they come from: web/known_models.json, which the page shares.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ztvm::app {

struct KnownModel {
  std::string alias;          // "phi3"
  std::string name;           // for people
  std::string repo;           // "owner/name" on the hub; empty when it comes from elsewhere
  std::uint64_t n_bytes = 0;  // of the whole download, about
  std::string about;          // one line
};

// The table as text, embedded by CMake.
std::string_view known_models_json();

// The table in its order.
std::vector<KnownModel> known_models();
std::optional<KnownModel> find_known_model(std::string_view alias);

}  // namespace ztvm::app
