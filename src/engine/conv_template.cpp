#include "engine/conv_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/in_quotes.hpp"

namespace ztvm::engine {
namespace {

constexpr const char* k_field = "conv_template";

// What MLC's presets put before every chat, by a control token of their families.
struct Preset {
  std::string_view control;
  std::string_view system_message;
};
constexpr Preset k_presets[] = {
    {"<|user|>",
     "You are a helpful digital assistant. Please provide safe, ethical and accurate information to the "
     "user."},
    {"<|im_start|>", "You are a helpful assistant."},
    {"<|im_start|>",
     "A conversation between a user and an LLM-based AI assistant. The assistant gives helpful and honest "
     "answers."},
    {"<|start_header_id|>", "You are a helpful, respectful and honest assistant."},
};

// Packages of some years ago name a preset.
struct NamedPreset {
  std::string_view name;
  std::string_view control;
};
constexpr NamedPreset k_named_presets[] = {
    {"phi-3", "<|user|>"},
    {"chatml", "<|im_start|>"},
    {"chatml_nosystem", "<|im_start|>"},
    {"qwen2", "<|im_start|>"},
    {"qwen3", "<|im_start|>"},
    {"llama-3", "<|start_header_id|>"},
    {"llama-3_1", "<|start_header_id|>"},
};

using Turns = std::initializer_list<std::pair<const char*, std::string_view>>;  // role, content

// What the model's own template writes, up to where an answer begins.
std::string rendered(text::TemplateKind kind, Turns turns) {
  OrderedJson messages = OrderedJson::array();
  for (const auto& [role, content] : turns) messages.push_back({{"role", role}, {"content", content}});
  const auto segments = text::render_chat(kind, {.messages = std::move(messages),
                                                 .tools = nullptr,
                                                 .add_generation_prompt = true,
                                                 .enable_thinking = false});
  return segments ? text::join(*segments) : std::string();
}

std::string filled(std::string form, std::string_view place, std::string_view content) {
  const std::size_t at = form.find(place);
  return at == std::string::npos ? form : form.replace(at, place.size(), content);
}

// Holds one conv_template against one template; keeps the first problem.
class Comparison {
 public:
  Comparison(const Json& fields, std::string_view file, text::TemplateKind kind)
      : fields_(fields), file_(file), kind_(kind) {}

  void compare_turns() {
    if (!fields_.contains("roles")) return;
    const std::vector<std::string> seps = texts("/seps");
    if (problem_.empty() && seps.size() != 1 && seps.size() != 2) refuse("/seps", "one or two strings");
    if (!problem_.empty()) return;
    const auto user_turn = [&](std::string_view content) {
      return text("/roles/user", "") + text("/role_content_sep", "") +
             filled(text("/role_templates/user", "{user_message}"), "{user_message}", content) + seps.front();
    };
    const std::string ours =
        rendered(kind_, {{"user", k_first}, {"assistant", k_answer}, {"user", k_second}});
    const std::string first = user_turn(k_first);
    const std::size_t first_at = ours.find(first);
    if (first_at == std::string::npos) return differ("a user's turn", first);
    const std::string next =
        filled(text("/role_templates/assistant", "{assistant_message}"), "{assistant_message}", k_answer) +
        seps.back() + user_turn(k_second);
    const std::size_t next_at = ours.find(next, first_at);
    if (next_at == std::string::npos) return differ("an answer and what follows", next);
    // What opens a thought, or ends it at once, is the template's own choice.
    const std::string_view rest = std::string_view(ours).substr(next_at + next.size());
    const std::string open = text("/roles/assistant", "") + text("/role_empty_sep", "");
    if (!rest.starts_with(open) && !open.starts_with(rest)) differ("the beginning of an answer", open);
  }

  void compare_system() {
    constexpr std::string_view k_place = "{system_message}";
    const std::string form = text("/system_template", k_place);
    const std::string message = text("/system_message", "");
    const std::size_t place = std::min(form.find(k_place), form.size());
    const std::string with = rendered(kind_, {{"system", k_answer}, {"user", k_first}});
    const std::string_view after =
        std::string_view(form).substr(std::min(place + k_place.size(), form.size()));
    if (with.find(form.substr(0, place)) == std::string::npos || with.find(after) == std::string::npos) {
      differ("a system message", form);
    }
    const std::string without = rendered(kind_, {{"user", k_first}});
    const bool is_preset = std::ranges::any_of(k_presets, [&](const Preset& preset) {
      return message == preset.system_message && without.find(preset.control) != std::string::npos;
    });
    if (is_preset || without.find(message) != std::string::npos) return;
    refuse("/system_message", "none, or that of a preset of MLC");
  }

  void check_rest(const text::Tokenizer& tokenizer) {
    if (fields_.contains("messages") && !fields_["messages"].empty()) refuse("/messages", "none");
    for (const std::string& stop : texts("/stop_str")) {
      if (tokenizer.find_added_token(stop)) continue;
      keep(fmt::format("{} has {} in field \"{}.stop_str\", expected tokens that tokenizer.json adds.", file_,
                       in_quotes(stop), k_field));
    }
  }

  std::string problem() && { return std::move(problem_); }

 private:
  static constexpr std::string_view k_first = "QUESTION";
  static constexpr std::string_view k_answer = "ANSWER";
  static constexpr std::string_view k_second = "AGAIN";

  const Json* find(const char* path) const {
    const Json::json_pointer pointer(path);
    return fields_.contains(pointer) && !fields_[pointer].is_null() ? &fields_[pointer] : nullptr;
  }
  std::string text(const char* path, std::string_view fallback) {
    const Json* value = find(path);
    if (value == nullptr) return std::string(fallback);
    if (value->is_string()) return value->get<std::string>();
    refuse(path, "a string");
    return {};
  }
  std::vector<std::string> texts(const char* path) {
    const Json* value = find(path);
    std::vector<std::string> list;
    if (value == nullptr) return list;
    for (const Json& one : value->is_array() ? *value : Json::array({*value})) {
      if (!one.is_string()) {
        refuse(path, "strings");
        return {};
      }
      list.push_back(one.get<std::string>());
    }
    return list;
  }
  void refuse(const char* path, std::string_view expected) {
    std::string field(path);
    std::ranges::replace(field, '/', '.');
    const Json* value = find(path);
    keep(fmt::format("{} has {} in field \"{}{}\", expected {}.", file_,
                     value == nullptr ? "nothing" : shown_json(*value), k_field, field, expected));
  }
  void differ(std::string_view what, std::string_view theirs) {
    keep(fmt::format("{} writes {} as {} by its field \"{}\", but the template {} does not.", file_, what,
                     in_quotes(theirs), k_field, to_string(kind_)));
  }
  void keep(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  const Json& fields_;
  std::string_view file_;
  text::TemplateKind kind_;
  std::string problem_;
};

std::string named_preset_problem(const std::string& name, std::string_view file, text::TemplateKind kind) {
  const std::string ours = rendered(kind, {{"user", "QUESTION"}});
  const bool is_known = std::ranges::any_of(k_named_presets, [&](const NamedPreset& preset) {
    return preset.name == name && ours.find(preset.control) != std::string::npos;
  });
  if (is_known) return {};
  return fmt::format("{} has {} in field \"{}\", which is not the template {}.", file, in_quotes(name),
                     k_field, to_string(kind));
}

}  // namespace

std::string conv_template_problem(const Json& config, std::string_view file, text::TemplateKind kind,
                                  const text::Tokenizer& tokenizer) {
  const auto found = config.find(k_field);
  if (found == config.end() || found->is_null()) return {};
  if (found->is_string()) return named_preset_problem(found->get<std::string>(), file, kind);
  if (!found->is_object()) {
    return fmt::format("{} has {} in field \"{}\", expected an object.", file, shown_json(*found), k_field);
  }
  Comparison comparison(*found, file, kind);
  comparison.compare_turns();
  comparison.compare_system();
  comparison.check_rest(tokenizer);
  return std::move(comparison).problem();
}

std::vector<text::TokenId> stop_string_ids(const Json& config, const text::Tokenizer& tokenizer) {
  const Json::json_pointer path("/conv_template/stop_str");
  std::vector<text::TokenId> ids;
  if (!config.contains(path)) return ids;
  const Json& stops = config[path];
  for (const Json& stop : stops.is_array() ? stops : Json::array({stops})) {
    const auto id = stop.is_string() ? tokenizer.find_added_token(stop.get<std::string>()) : std::nullopt;
    if (id) ids.push_back(*id);
  }
  return ids;
}

}  // namespace ztvm::engine
