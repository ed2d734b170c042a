// Configs that say something else than the weights need: each is refused by a sentence that names the field, the token
// or the tensor. And what published configs say without harm.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "engine/model_plan.hpp"
#include "gguf_builder.hpp"
#include "gpu/host_device.hpp"
#include "load/gguf.hpp"
#include "model_folder.hpp"

namespace ztvm::engine {
namespace {

using Change = std::function<void(Json&)>;

constexpr const char* k_mlc = "mlc-chat-config.json";
constexpr const char* k_hf = "config.json";

test::ModelFolder folder_of(const std::string& family) {
  return test::ModelFolder::open("tests/golden/" + family + "/model");
}

Result<ModelPlan> plan(const test::ModelFolder& folder) {
  auto files = test::read_model(folder);
  if (!files) return forward(files);
  auto head = read_model_head(std::move(*files));
  if (!head) return forward(head);
  const gpu::HostDevice device;
  return plan_model(std::move(head->family), head->checkpoint, head->text.tokenizer.vocab_size(),
                    device.caps(), {.target = {}});
}

Result<ModelPlan> plan(const std::string& family, const std::string& file, const Change& change) {
  test::ModelFolder folder = folder_of(family);
  Json json = Json::parse(folder.files.at(file));
  change(json);
  folder.files[file] = json.dump();
  return plan(folder);
}

void expect_refused(const std::string& family, const std::string& file, const Change& change,
                    const std::string& named) {
  const auto planned = plan(family, file, change);
  ASSERT_FALSE(planned) << "expected: " << named;
  EXPECT_NE(planned.error().text.find(named), std::string::npos)
      << planned.error().text << "\nlacks " << named;
}

// Sets fields of the object at `pointer`.
Change with(const char* pointer, Json fields) {
  return [path = Json::json_pointer(pointer), fields](Json& json) { json[path].update(fields); };
}
Change without(const char* pointer, const char* field) {
  return [path = Json::json_pointer(pointer), field](Json& json) { json[path].erase(field); };
}

TEST(DamagedConfig, FieldsThatChangeTheModelAreKnownOrRefused) {
  const auto mlc = [](Json fields, const std::string& named) {
    expect_refused("qwen3", k_mlc, with("/model_config", std::move(fields)), named);
  };
  const auto text = [](Json fields, const std::string& named) {
    expect_refused("qwen36", k_hf, with("/text_config", std::move(fields)), named);
  };
  expect_refused("qwen3", k_mlc, without("/model_config", "rope_theta"),
                 "mlc-chat-config.json has no field \"rope_parameters.rope_theta\" or \"rope_theta\"");
  expect_refused("qwen36", k_hf, without("/text_config", "rope_parameters"),
                 "\"rope_parameters.rope_theta\"");
  mlc({{"rope_theta", 0}}, "mlc-chat-config.json has 0 in field \"rope_theta\", expected a number from 1");
  mlc({{"rope_scaling", {{"type", "yarn"}, {"factor", 4}}}}, "\"yarn\" in field \"rope_scaling.type\"");
  mlc({{"rope_parameters", "x"}}, "\"rope_parameters\" that is no object");
  mlc({{"attention_bias", true}}, "true in field \"attention_bias\"");
  mlc({{"hidden_act", "gelu"}}, "\"gelu\" in field \"hidden_act\"");
  mlc({{"layer_types", {"full_attention", "full_attention", "linear_attention"}}}, "\"linear_attention\"");
  expect_refused("qwen3", k_mlc, with("", {{"tensor_parallel_shards", 2}}),
                 "2 in field \"tensor_parallel_shards\"");
  expect_refused("qwen3", k_mlc, with("", {{"pipeline_parallel_stages", 2}}),
                 "2 in field \"pipeline_parallel_stages\"");
  text({{"norm_topk_prob", false}}, "false in field \"norm_topk_prob\"");
  text({{"decoder_sparse_step", 2}}, "2 in field \"decoder_sparse_step\"");
  text({{"mlp_only_layers", {1}}}, "mlp_only_layers");
  text({{"rope_parameters", {{"rope_theta", 1e7}, {"type", "yarn"}}}}, "\"rope_parameters.type\"");
  expect_refused("qwen36", k_hf, with("/text_config", {{"max_position_embeddings", nullptr}}),
                 "config.json has no field \"context_window_size\" or \"max_position_embeddings\"");
}

TEST(DamagedConfig, WhatPublishedConfigsSayWithoutHarmIsTaken) {
  const auto taken = [](Json fields) {
    const auto planned = plan("qwen3", k_mlc, with("/model_config", std::move(fields)));
    return planned ? std::string() : planned.error().text;
  };
  EXPECT_EQ(taken({{"hidden_act", "swish"}}), "");
  EXPECT_EQ(taken({{"rope_scaling", {{"type", "linear"}, {"factor", 1.0}}}}), "");
  EXPECT_EQ(taken({{"rope_scaling", {{"mrope_section", {11, 11, 10}}}}}), "");
  EXPECT_EQ(taken({{"layer_types", Json::array_t(3, "full_attention")}}), "");
  EXPECT_NE(taken({{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}}).find("\"linear\" in field"),
            std::string::npos);
  EXPECT_NE(taken({{"rope_scaling", {{"type", "linear"}}}}).find("\"linear\" in field"), std::string::npos);
  EXPECT_NE(
      taken({{"rope_scaling", {{"mrope_section", {11, 11, 10}}, {"factor", 2}}}}).find("without a type"),
      std::string::npos);
}

TEST(DamagedConfig, WhatContradictsItselfIsRefused) {
  expect_refused("qwen3", k_mlc, with("/model_config", {{"layer_types", {"full_attention"}}}),
                 "has a list \"layer_types\" of 1 layers, expected 3.");
  expect_refused("qwen3", k_mlc, with("/model_config", {{"position_embedding_base", 5}}),
                 "has 5 in field \"position_embedding_base\", but 1000000");
  expect_refused("qwen3", k_mlc, with("/model_config", {{"vocab_size", 300}}),
                 "tokenizer.json has 605 tokens, but the model of mlc-chat-config.json embeds only 300.");
}

TEST(DamagedConfig, ATemplateThatIsNotKnownIsToldWithItsFile) {
  test::ModelFolder folder = folder_of("qwen36");
  folder.files["chat_template.jinja"] = "{{ '[INST]' }}";
  auto files = test::read_model(folder);
  ASSERT_TRUE(files);
  const auto head = read_model_head(std::move(*files));
  ASSERT_TRUE(head) << head.error().text;
  EXPECT_EQ(head->text.template_problem,
            "chat_template.jinja: The model's chat template is none that this engine knows. It begins \"{{ "
            "'[INST]' }}\".");
}

TEST(DamagedConfig, WhatTheFamilyLeavesOutIsFilledInAsTransformersDoes) {
  const auto share = plan("qwen36", k_hf, without("/text_config/rope_parameters", "partial_rotary_factor"));
  ASSERT_TRUE(share) << share.error().text;
  EXPECT_EQ(share->family.spec.n_rotated(), 16u);
  const auto phi = plan("phi3", k_mlc, [](Json& json) {
    json["model_config"].erase("position_embedding_base");
    json["model_config"].erase("rms_norm_eps");
  });
  ASSERT_TRUE(phi) << phi.error().text;
  EXPECT_EQ(phi->family.spec.rope_theta, 10000.0);
  EXPECT_EQ(phi->family.spec.rms_eps, 1e-5f);
}

TEST(DamagedConfig, AWindowLimitsTheContext) {
  const auto context = [](const std::string& family, const Json& fields, const Json& model_fields) {
    const auto planned = plan(family, k_mlc, [&](Json& json) {
      json.update(fields);
      json["model_config"].update(model_fields);
    });
    EXPECT_TRUE(planned) << planned.error().text;
    return planned ? planned->family.spec.max_context : 0;
  };
  EXPECT_EQ(context("qwen3", {{"sliding_window_size", 64}}, Json::object()), 64u);
  EXPECT_EQ(context("qwen3", {{"sliding_window_size", 99999}}, {{"sliding_window", nullptr}}), 4096u);
  EXPECT_EQ(context("qwen3", Json::object(), {{"sliding_window", 64}}), 4096u);  // not without its switch
  EXPECT_EQ(context("qwen3", Json::object(), {{"sliding_window", 64}, {"use_sliding_window", true}}), 64u);
  EXPECT_EQ(context("phi3", Json::object(), {{"sliding_window", 2047}}), 2047u);
}

TEST(DamagedConfig, ATensorWithoutAPlaceIsRefused) {
  expect_refused(
      "qwen3", k_mlc, with("/model_config", {{"num_hidden_layers", 2}}),
      "Tensor \"model.layers.2.input_layernorm.weight\" in params_shard_8.bin has no place in the model "
      "that the config describes, qwen3 with 2 layers.");
  expect_refused("qwen3", k_mlc, with("", {{"model_type", "llama"}}),
                 "self_attn.k_norm.weight\" in params_shard");
  expect_refused("qwen36", k_hf, with("/text_config", {{"shared_expert_intermediate_size", 0}}),
                 "mlp.shared_expert");
  expect_refused("qwen36", k_hf, without("/text_config", "shared_expert_intermediate_size"),
                 "mlp.shared_expert");
}

TEST(DamagedConfig, AHeadThatIsStoredIsUsedWhateverIsSaidOfTies) {
  for (const auto& [family, file] : {std::pair("qwen36", k_hf), {"phi3", k_mlc}}) {
    const auto planned = plan(family, file, [](Json& json) {
      json["tie_word_embeddings"] = true;
      for (const char* part : {"model_config", "text_config"}) {
        if (json.contains(part)) json[part]["tie_word_embeddings"] = true;
      }
    });
    ASSERT_TRUE(planned) << planned.error().text;
    EXPECT_FALSE(planned->family.spec.tied_head);
  }
  const auto tied = plan("qwen3", k_mlc, [](Json&) {});
  ASSERT_TRUE(tied) << tied.error().text;
  EXPECT_TRUE(tied->family.spec.tied_head);
}

TEST(DamagedConfig, TheSmallerOfTwoContextsCounts) {
  const auto context = [](const Json& fields, const Json& model_fields) {
    const auto planned = plan("phi3", k_mlc, [&](Json& json) {
      json.update(fields);
      json["model_config"].update(model_fields);
    });
    EXPECT_TRUE(planned) << planned.error().text;
    return planned ? planned->family.spec.max_context : 0;
  };
  EXPECT_EQ(context({{"context_window_size", 64}}, Json::object()), 64u);
  EXPECT_EQ(context(Json::object(), {{"context_window_size", 64}}), 64u);
  EXPECT_EQ(context({{"context_window_size", 8192}}, Json::object()), 4096u);
  EXPECT_EQ(context({{"context_window_size", -1}}, {{"context_window_size", -1}}), 4096u);
  EXPECT_EQ(context({{"context_window_size", 64}}, {{"max_position_embeddings", nullptr}}), 64u);
  expect_refused("phi3", k_mlc, with("", {{"context_window_size", "x"}}),
                 "mlc-chat-config.json has \"x\" in field \"context_window_size\", expected a whole number");
}

TEST(DamagedConfig, OnlyActiveIdsAreChosen) {
  const auto n_valid = [](Json active) {
    const auto planned = plan("phi3", k_mlc, with("", {{"active_vocab_size", std::move(active)}}));
    EXPECT_TRUE(planned) << planned.error().text;
    return planned ? planned->family.spec.n_valid_ids : 0;
  };
  EXPECT_EQ(n_valid(100), 100u);
  EXPECT_EQ(n_valid(nullptr), n_valid(1u << 20));
  expect_refused("phi3", k_mlc, with("", {{"active_vocab_size", 0}}), "0 in field \"active_vocab_size\"");
}

TEST(DamagedConfig, KeysThatAreThereTwiceAreRefused) {
  test::ModelFolder folder = folder_of("qwen3");
  std::string& config = folder.files[k_mlc];
  config.insert(config.find("\"num_hidden_layers\""), "\"num_hidden_layers\": 2, ");
  const auto planned = plan(folder);
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().text,
            "mlc-chat-config.json has the key \"num_hidden_layers\" twice in one object.");
}

TEST(DamagedConfig, AnEndThatIsNoIdIsRefused) {
  for (const Json& ids :
       {Json(-1), Json("x"), Json(1'000'000'000), Json(612), Json::array(), Json({1, -1})}) {
    expect_refused("qwen3", k_mlc, with("", {{"eos_token_id", ids}}),
                   "mlc-chat-config.json has " + ids.dump() + " in field \"eos_token_id\"");
  }
  expect_refused("qwen36", "generation_config.json", with("", {{"eos_token_id", "x"}}),
                 "generation_config.json has \"x\" in field \"eos_token_id\"");
  EXPECT_TRUE(plan("qwen3", k_mlc, with("", {{"eos_token_id", nullptr}})));
  EXPECT_TRUE(plan("qwen3", k_mlc, with("/conv_template", {{"stop_token_ids", Json::array()}})));
}

TEST(DamagedConfig, ConfigsBesideTheWeightsAreObjects) {
  for (const char* file : {"tokenizer_config.json", "generation_config.json"}) {
    for (const char* text : {"", "null", "[]"}) {
      test::ModelFolder folder = folder_of("qwen36");
      folder.files[file] = text;
      const auto planned = plan(folder);
      ASSERT_FALSE(planned) << file << " " << text;
      EXPECT_TRUE(planned.error().text.starts_with(file)) << planned.error().text;
    }
  }
}

TEST(DamagedConfig, ATokenizerWithoutTheMarkersOfChatsIsRefused) {
  expect_refused(
      "qwen3", "tokenizer.json", [](Json& json) { json["added_tokens"] = Json::array(); },
      "tokenizer.json has no added token \"<|im_start|>\", which marks the turns of a chat in the template "
      "qwen3.");
}

TEST(DamagedConfig, AMergeWithoutItsTokenIsToldWithItsFile) {
  expect_refused(
      "qwen3", "tokenizer.json", [](Json& json) { json["model"]["merges"].push_back("q zzz"); },
      "tokenizer.json: Merge ");
}

TEST(DamagedConfig, AVocabularyWithoutMergesIsToldWithItsFile) {
  test::GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "smollm");
  builder.strings("tokenizer.ggml.tokens", {"a", "b"});
  builder.n_data_bytes = 512;
  const std::string bytes = builder.file();
  auto parsed = load::parse_gguf(as_bytes(bytes), "x.gguf", bytes.size());
  ASSERT_TRUE(parsed) << parsed.error().text;
  const auto text = read_text_parts(std::get<load::GgufFile>(*parsed).metadata);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().text, "x.gguf: tokenizer.ggml.merges is missing, so that text cannot be encoded.");
}

}  // namespace
}  // namespace ztvm::engine
