// What an MLC package may say of its chats: MLC's own presets are taken, other chats are refused.
#include "engine/conv_template.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/model_plan.hpp"
#include "model_folder.hpp"

namespace ztvm::engine {
namespace {

constexpr const char* k_mlc = "mlc-chat-config.json";

// The text side of a golden folder with a change to its conv_template.
TextParts parts_of(const std::string& family, const std::function<void(Json&)>& change) {
  test::ModelFolder folder = test::ModelFolder::open("tests/golden/" + family + "/model");
  Json config = Json::parse(folder.files.at(k_mlc));
  change(config["conv_template"]);
  folder.files[k_mlc] = config.dump();
  auto files = test::read_model(folder);
  EXPECT_TRUE(files);
  auto head = read_model_head(std::move(*files));
  EXPECT_TRUE(head) << head.error().text;
  return std::move(head->text);
}
std::string problem(const std::string& family, const std::function<void(Json&)>& change) {
  return parts_of(family, change).template_problem;
}
std::string problem_with(const std::string& family, Json fields) {
  return problem(family, [&](Json& conv) { conv.update(fields); });
}

// conversation_template/*.py of mlc-ai/mlc-llm, July 2026.
Json preset(const char* system_template, const char* system_message, Json roles, Json seps, const char* sep) {
  return {{"system_template", system_template},
          {"system_message", system_message},
          {"roles", std::move(roles)},
          {"seps", std::move(seps)},
          {"role_content_sep", sep},
          {"role_empty_sep", sep},
          {"stop_str", Json::array()}};
}
constexpr const char* k_im_system = "<|im_start|>system\n{system_message}<|im_end|>\n";
constexpr const char* k_helpful = "You are a helpful assistant.";

TEST(ConvTemplate, PresetsOfMlcAreTaken) {
  for (const char* family : {"phi3", "qwen3", "qwen35"}) EXPECT_EQ(problem_with(family, Json::object()), "");
  const Json im_roles = {{"user", "<|im_start|>user"}, {"assistant", "<|im_start|>assistant"}};
  Json thinks = im_roles;
  thinks["assistant"] = "<|im_start|>assistant\n<think>";
  Json nothink = im_roles;
  nothink["assistant"] = "<|im_start|>assistant\n<think>\n\n</think>\n";
  const Json im_seps = {"<|im_end|>\n"};
  EXPECT_EQ(problem_with("qwen3", preset(k_im_system, k_helpful, im_roles, im_seps, "\n")), "");
  EXPECT_EQ(problem_with("qwen3", preset("{system_message}", "", im_roles, im_seps, "\n")), "");
  EXPECT_EQ(problem_with("qwen35", preset(k_im_system, k_helpful, thinks, im_seps, "\n")), "");
  EXPECT_EQ(problem_with("qwen35", preset(k_im_system, k_helpful, nothink, im_seps, "\n")), "");
  EXPECT_EQ(problem("phi3", [](Json& conv) { conv = "phi-3"; }), "");
  EXPECT_EQ(problem("phi3", [](Json& conv) { conv = nullptr; }), "");
  EXPECT_EQ(problem("phi3", [](Json& conv) { conv = {{"stop_token_ids", {2}}}; }), "");
}

TEST(ConvTemplate, PresetsOfLlama3AreTaken) {
  const TextParts any = parts_of("phi3", [](Json&) {});
  const Json conv =
      preset("<|start_header_id|>system<|end_header_id|>\n\n{system_message}<|eot_id|>",
             "You are a helpful, respectful and honest assistant.",
             {{"user", "<|start_header_id|>user"}, {"assistant", "<|start_header_id|>assistant"}},
             {"<|eot_id|>"}, "<|end_header_id|>\n\n");
  for (const auto kind : {text::TemplateKind::llama3_simple, text::TemplateKind::llama_3_1_instruct}) {
    EXPECT_EQ(conv_template_problem({{"conv_template", conv}}, k_mlc, kind, any.tokenizer), "");
  }
}

TEST(ConvTemplate, OtherTurnsAreRefused) {
  EXPECT_EQ(problem_with("phi3",
                         {{"roles", {{"user", "<|im_start|>user"}, {"assistant", "<|im_start|>assistant"}}}}),
            "mlc-chat-config.json writes a user's turn as "
            "\"<|im_start|>user\\x0aQUESTION<|end|>\\x0a\" by its field \"conv_template\", but the template "
            "phi-3-mini-4k does not.");
  EXPECT_NE(problem_with("qwen3", {{"seps", {"<|im_end|>\n", "</s>"}}})
                .find("writes an answer and what follows as"),
            std::string::npos);
  EXPECT_NE(problem_with("qwen3", {{"role_empty_sep", ": "}}).find("writes the beginning of an answer as"),
            std::string::npos);
  EXPECT_NE(problem_with("qwen3", {{"system_template", "Be kind. {system_message}"}})
                .find("writes a system message as"),
            std::string::npos);
  EXPECT_NE(
      problem_with("qwen3", {{"role_templates", {{"user", "Q: {user_message}"}}}}).find("a user's turn"),
      std::string::npos);
  EXPECT_NE(problem("qwen3", [](Json& conv) { conv = "phi-3"; }).find("\"phi-3\" in field \"conv_template\""),
            std::string::npos);
  EXPECT_NE(
      problem_with("qwen3", {{"messages", {{"user", "hi"}}}}).find("in field \"conv_template.messages\""),
      std::string::npos);
  EXPECT_NE(problem_with("qwen3", {{"roles", {{"user", 1}}}}).find("1 in field \"conv_template.roles.user\""),
            std::string::npos);
}

TEST(ConvTemplate, AnotherSystemMessageIsRefused) {
  EXPECT_EQ(problem_with("phi3", {{"system_message", ""}}), "");
  EXPECT_EQ(
      problem_with("phi3", {{"system_message", "You are a pirate."}}),
      "mlc-chat-config.json has \"You are a pirate.\" in field \"conv_template.system_message\", expected "
      "none, or that of a preset of MLC.");
}

TEST(ConvTemplate, StopStringsAreTokensThatEndAnswers) {
  EXPECT_EQ(problem_with("phi3", {{"stop_str", {"<|end|>", "e"}}}),
            "mlc-chat-config.json has \"e\" in field \"conv_template.stop_str\", expected tokens that "
            "tokenizer.json adds.");
  const TextParts parts = parts_of("phi3", [](Json& conv) { conv["stop_str"] = {"<|system|>"}; });
  EXPECT_EQ(parts.template_problem, "");
  const auto id = parts.tokenizer.find_added_token("<|system|>");
  ASSERT_TRUE(id);
  EXPECT_EQ(std::ranges::count(parts.stop_ids, *id), 1);
}

}  // namespace
}  // namespace ztvm::engine
