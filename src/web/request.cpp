#include "web/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "engine/tuning_file.hpp"

namespace ztvm::web {
namespace {

// Reads the fields of one object and keeps the first error, so that a list of fields stays a list of lines.
class Fields {
 public:
  Fields(const Json& object, std::string_view what) : object_(object), what_(what) {}

  bool has(std::string_view key) const { return object_.is_object() && object_.contains(key); }

  void text(std::string_view key, std::string& out) { take(get_string(object_, key, what_), out); }
  void flag(std::string_view key, bool& out) { take(get_bool(object_, key, what_), out); }
  void real(std::string_view key, float& out) {
    double value = 0.0;
    if (!take(get_number(object_, key, what_), value)) return;
    if (std::abs(value) > std::numeric_limits<float>::max()) {
      reject(
          fmt::format("{} has {} in field \"{}\", expected a number that 32 bits hold.", what_, value, key));
      return;
    }
    out = static_cast<float>(value);
  }
  template <typename T>
  void count(std::string_view key, T& out) {
    std::int64_t value = 0;
    if (!take(get_int(object_, key, what_), value)) return;
    if (value < 0 || !std::in_range<T>(value)) {
      reject(fmt::format("{} has {} in field \"{}\", expected an integer from 0 to {}.", what_, value, key,
                         std::min<std::uint64_t>(std::numeric_limits<T>::max(), INT64_MAX)));
      return;
    }
    out = static_cast<T>(value);
  }
  // One of `names`; `out` becomes the enumerator with that index.
  template <typename Enum, std::size_t N>
  void choice(std::string_view key, const std::array<std::string_view, N>& names, Enum& out) {
    std::string name;
    if (!take(get_string(object_, key, what_), name)) return;
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      reject(fmt::format("{} has {} in field \"{}\", expected one of {}.", what_, in_quotes(name), key,
                         fmt::join(names, ", ")));
      return;
    }
    out = static_cast<Enum>(found - names.begin());
  }

  void reject(std::string text) {
    if (!error_.text.empty()) return;
    error_ = Error{.code = ErrorCode::invalid_argument, .text = std::move(text)};
  }
  Result<void> result() const {
    if (error_.text.empty()) return {};
    return std::unexpected(error_);
  }

 private:
  template <typename T>
  bool take(Result<T> value, T& out) {
    if (!value) {
      reject(std::move(value.error().text));
      return false;
    }
    out = std::move(*value);
    return true;
  }

  const Json& object_;
  std::string_view what_;
  Error error_;
};

Result<Json> parse_request(std::string_view text, std::string_view what) {
  auto json = parse_json(text, what);
  if (!json) return fail(ErrorCode::invalid_argument, std::move(json.error().text));
  if (!json->is_object()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is a JSON {}, expected an object.", what, json->type_name()));
  }
  return json;
}

Result<std::vector<engine::Message>> parse_messages(const Json& list) {
  if (!list.is_array()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("Field \"messages\" is a JSON {}, expected an array.", list.type_name()));
  }
  std::vector<engine::Message> messages;
  for (const Json& item : list) {
    const std::string what = fmt::format("Message {}", messages.size());
    engine::Message message;
    Fields fields(item, what);
    fields.text("role", message.role);
    fields.text("content", message.content);
    if (auto checked = fields.result(); !checked) return forward(checked);
    messages.push_back(std::move(message));
  }
  return messages;
}

Result<std::vector<std::uint32_t>> parse_numbers(const Json& list, std::string_view field) {
  if (!list.is_array()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("Field \"{}\" is a JSON {}, expected an array.", field, list.type_name()));
  }
  std::vector<std::uint32_t> numbers;
  for (const Json& item : list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > UINT32_MAX) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("Field \"{}\" has no number at index {}, expected an integer.", field, numbers.size()));
    }
    numbers.push_back(item.get<std::uint32_t>());
  }
  return numbers;
}

Result<Prompt> parse_prompt(const Json& request) {
  const auto has = [&](const char* key) { return static_cast<int>(request.contains(key)); };
  if (has("messages") + has("ids") + has("text") != 1) {
    return fail(ErrorCode::invalid_argument,
                "The request needs exactly one of \"messages\", \"ids\" and \"text\".");
  }
  if (request.contains("messages")) {
    auto messages = parse_messages(request["messages"]);
    if (!messages) return forward(messages);
    return Prompt(std::move(*messages));
  }
  if (request.contains("ids")) {
    auto ids = parse_numbers(request["ids"], "ids");
    if (!ids) return forward(ids);
    return Prompt(std::move(*ids));
  }
  auto text = get_string(request, "text", "The request");
  if (!text) return fail(ErrorCode::invalid_argument, std::move(text.error().text));
  return Prompt(std::move(*text));
}

void read_tuning_fields(Fields& fields, engine::Autotune& autotune, std::string& tuning) {
  if (fields.has("autotune")) fields.choice("autotune", engine::k_autotune_names, autotune);
  if (fields.has("tuning")) fields.text("tuning", tuning);
}

}  // namespace

Result<gpu::Caps> parse_caps(std::string_view text) {
  constexpr std::array<std::string_view, 4> k_kinds = {"unknown", "cpu", "integrated", "discrete"};
  constexpr std::array<std::string_view, 2> k_compilers = {"naga", "tint"};
  const auto json = parse_request(text, "The adapter's description");
  if (!json) return std::unexpected(json.error());
  gpu::Caps caps;
  Fields fields(*json, "The adapter's description");
  fields.text("adapter", caps.adapter);
  fields.text("driver", caps.driver);
  fields.choice("kind", k_kinds, caps.kind);
  fields.choice("compiler", k_compilers, caps.compiler);
  fields.flag("f16", caps.f16);
  fields.flag("subgroups", caps.subgroups);
  fields.flag("subgroup_matrix", caps.subgroup_matrix);
  fields.count("subgroup_min", caps.subgroup_min);
  fields.count("subgroup_max", caps.subgroup_max);
  fields.count("max_buffer_bytes", caps.max_buffer_bytes);
  fields.count("max_binding_bytes", caps.max_binding_bytes);
  fields.count("max_bindings", caps.max_bindings);
  fields.count("max_workgroup_bytes", caps.max_workgroup_bytes);
  fields.count("max_workgroup_invocations", caps.max_workgroup_invocations);
  fields.count("max_workgroups", caps.max_workgroups);
  if (auto checked = fields.result(); !checked) return forward(checked);
  return caps;
}

Result<engine::EngineOptions> parse_engine_options(const gpu::Caps& caps, std::string_view text) {
  const auto json = parse_request(text, "The options");
  if (!json) return std::unexpected(json.error());
  engine::EngineOptions options;
  Fields fields(*json, "The options");
  if (fields.has("context")) fields.count("context", options.context);
  if (fields.has("kv")) fields.choice("kv", model::k_kv_type_names, options.kv);
  bool lockstep = false;
  if (fields.has("lockstep")) fields.flag("lockstep", lockstep);
  if (lockstep) options.backend = engine::Backend::lockstep_async;
  options.target = gpu::choose_target(caps);
  if (fields.has("kernels")) {
    std::string kernels;
    fields.text("kernels", kernels);
    auto target = gpu::parse_target(kernels);
    if (!target) return forward(target);
    options.target = *target;
  }
  engine::Autotune autotune = engine::Autotune::off;
  std::string tuning;
  read_tuning_fields(fields, autotune, tuning);
  engine::use_tuning(caps, autotune, tuning, options);
  if (auto checked = fields.result(); !checked) return forward(checked);
  return options;
}

Result<GenerateRequest> parse_generate_request(std::string_view text) {
  const auto json = parse_request(text, "The request");
  if (!json) return std::unexpected(json.error());
  auto prompt = parse_prompt(*json);
  if (!prompt) return forward(prompt);
  GenerateRequest request;
  request.prompt = std::move(*prompt);
  engine::SamplerParams& sampler = request.options.sampler;
  Fields fields(*json, "The request");
  if (fields.has("temperature")) fields.real("temperature", sampler.temperature);
  if (fields.has("top_k")) fields.count("top_k", sampler.top_k);
  if (fields.has("top_p")) fields.real("top_p", sampler.top_p);
  if (fields.has("min_p")) fields.real("min_p", sampler.min_p);
  if (fields.has("repeat_penalty")) fields.real("repeat_penalty", sampler.repeat_penalty);
  if (fields.has("seed")) fields.count("seed", sampler.seed);
  if (fields.has("max_tokens")) fields.count("max_tokens", request.options.max_tokens);
  if (fields.has("ignore_eos")) fields.flag("ignore_eos", request.options.ignore_eos);
  if (auto checked = fields.result(); !checked) return forward(checked);
  if (auto checked = engine::validate(sampler); !checked) return forward(checked);
  return request;
}

Result<ProbeRequest> parse_probe_request(std::string_view text) {
  const auto json = parse_request(text, "The request");
  if (!json) return std::unexpected(json.error());
  auto ids = parse_numbers(json->value("ids", Json()), "ids");
  if (!ids) return forward(ids);
  ProbeRequest request = {.ids = std::move(*ids)};
  Fields fields(*json, "The request");
  if (fields.has("hidden")) fields.flag("hidden", request.hidden);
  if (auto checked = fields.result(); !checked) return forward(checked);
  return request;
}

Result<BenchRequest> parse_bench_request(std::string_view text) {
  const auto json = parse_request(text, "The request");
  if (!json) return std::unexpected(json.error());
  BenchRequest request;
  Fields fields(*json, "The request");
  fields.text("model", request.model);
  if (fields.has("layers")) fields.count("layers", request.n_layers);
  if (fields.has("kv")) fields.choice("kv", model::k_kv_type_names, request.kv);
  read_tuning_fields(fields, request.autotune, request.tuning);
  bench::BenchOptions& options = request.options;
  fields.count("prompt_tokens", options.prompt_tokens);
  fields.count("gen_tokens", options.gen_tokens);
  fields.count("repeat", options.repeat);
  constexpr std::uint32_t k_most = 1u << 20;
  if (options.prompt_tokens == 0 || options.gen_tokens < 2 || options.repeat == 0 ||
      request.n_layers > 1024 ||
      std::max({options.prompt_tokens, options.gen_tokens, options.repeat}) > k_most) {
    fields.reject(
        fmt::format("The request needs 1 to {0} prompt tokens, 2 to {0} to generate, 1 to {0} "
                    "repetitions, and at most 1024 layers.",
                    k_most));
  }
  if (auto checked = fields.result(); !checked) return forward(checked);
  auto depths = parse_numbers(json->value("depths", Json()), "depths");
  if (!depths) return forward(depths);
  options.depths = std::move(*depths);
  if (options.depths.empty() || std::ranges::max(options.depths) > k_most) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The request needs depths to decode at, at most {} each.", k_most));
  }
  return request;
}

}  // namespace ztvm::web
