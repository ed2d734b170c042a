#include "apps/tuning_store.hpp"

#include <cctype>
#include <cstdlib>
#include <system_error>

#include "apps/download/durable.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  const auto named = [](const char* variable) {
    const char* value = std::getenv(variable);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const fs::path own = named("ZEROTVM_CACHE"); !own.empty()) return own;
  if (const fs::path cache = named("XDG_CACHE_HOME"); !cache.empty()) return cache / "zerotvm";
  if (const fs::path home = named("HOME"); !home.empty()) return home / ".cache" / "zerotvm";
  return {};
}

// "nvidia-h200-gpu-f16-subgroups" of "NVIDIA H200 gpu f16 subgroups".
std::string as_file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

gpu::Target target_of(const gpu::Caps& caps, const engine::EngineOptions& options) {
  return options.target.value_or(gpu::choose_target(caps));
}

// Empty where nothing is kept.
std::string kept_text(const engine::TuningKey& key) {
  constexpr std::uint64_t k_most_bytes = 4u << 20;
  return read_text(tuning_file(key), k_most_bytes).value_or("");
}

}  // namespace

fs::path tuning_file(const engine::TuningKey& key) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  return folder / "tuning" / (as_file_name(key.adapter + " " + key.kernels) + ".json");
}

gpu::Tuning load_tuning(const engine::TuningKey& key) { return engine::read_tuning(kept_text(key), key); }

Result<void> save_tuning(const engine::TuningKey& key, const gpu::Tuning& tuning) {
  const fs::path path = tuning_file(key);
  if (path.empty()) return {};
  // Another program may have measured other shapes meanwhile.
  gpu::Tuning all = load_tuning(key);
  for (const auto& [shape, tuned] : tuning) all[shape] = tuned;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  return replace_file(path, engine::write_tuning(key, all));
}

void use_kept_tuning(const gpu::Caps& caps, engine::Autotune when, engine::EngineOptions& options) {
  engine::use_tuning(caps, when, kept_text(engine::tuning_key(caps, target_of(caps, options))), options);
}

Result<void> keep_tuning(const gpu::Caps& caps, const engine::EngineOptions& options,
                         const engine::Engine& engine) {
  if (!options.autotune || engine.tuning() == options.tuning) return {};
  return save_tuning(engine::tuning_key(caps, target_of(caps, options)), engine.tuning());
}

}  // namespace ztvm::app
