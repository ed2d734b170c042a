#include "engine/tuning_file.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace ztvm::engine {
namespace {

constexpr std::uint64_t k_min_bytes = 32u << 20;  // of a model's weights

Json header(const TuningKey& key) {
  return {{"adapter", key.adapter},
          {"driver", key.driver},
          {"compiler", key.compiler},
          {"kernels", key.kernels},
          {"shaders", gpu::shader_fingerprint()}};
}

// The entries of `object` that are of type T; none of anything else.
template <typename T>
std::map<std::string, T> entries(const Json& object, bool (Json::*is_type)() const noexcept) {
  std::map<std::string, T> found;
  if (!object.is_object()) return found;
  for (const auto& [name, value] : object.items()) {
    if ((value.*is_type)()) found.emplace(name, value.template get<T>());
  }
  return found;
}

}  // namespace

TuningKey tuning_key(const gpu::Caps& caps, const gpu::Target& target) {
  return {.adapter = caps.adapter,
          .driver = caps.driver,
          .compiler = caps.compiler == gpu::ShaderCompiler::naga ? "naga" : "tint",
          .kernels = gpu::describe(target)};
}

void use_tuning(const gpu::Caps& caps, Autotune when, std::string_view kept, EngineOptions& options) {
  if (when == Autotune::off || options.backend == Backend::reference) return;
  options.tuning = read_tuning(kept, tuning_key(caps, options.target.value_or(gpu::choose_target(caps))));
  options.autotune =
      options.backend == Backend::gpu && (when == Autotune::on || caps.kind != gpu::AdapterKind::cpu);
  options.autotune_min_bytes = when == Autotune::on ? 0 : k_min_bytes;
}

std::string write_tuning(const TuningKey& key, const gpu::Tuning& tuning) {
  Json shapes = Json::object();
  for (const auto& [name, tuned] : tuning) {
    Json& shape = shapes[name] = {{"form", tuned.form}, {"own", tuned.own}, {"us", tuned.times}};
    if (!tuned.wrong.empty()) shape["wrong"] = tuned.wrong;
  }
  Json file = header(key);
  file["shapes"] = std::move(shapes);
  return dump_json(file);
}

gpu::Tuning read_tuning(std::string_view text, const TuningKey& key) {
  gpu::Tuning tuning;
  const auto file = parse_json(text, "the tuning");
  if (!file || !file->is_object()) return tuning;
  for (const auto& [field, value] : header(key).items()) {
    if (file->value(field, Json()) != value) return tuning;
  }
  const Json shapes = file->value("shapes", Json());
  if (!shapes.is_object()) return tuning;
  for (const auto& [name, shape] : shapes.items()) {
    const auto form = get_string(shape, "form", "a shape");
    const auto own = get_string(shape, "own", "a shape");
    if (!form || !own) continue;
    tuning[name] = {.form = *form,
                    .own = *own,
                    .times = entries<double>(shape.value("us", Json()), &Json::is_number),
                    .wrong = entries<std::string>(shape.value("wrong", Json()), &Json::is_string)};
  }
  return tuning;
}

}  // namespace ztvm::engine
