#include "text/vocab_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

#include "base/in_quotes.hpp"
#include "base/json_builder.hpp"

namespace ztvm::text {
namespace {

// Takes the entries of model.vocab and model.merges as they come; all else becomes the tree. Open containers around the
// parser's position: 1 within the file's object, 2 within the model, 3 within its vocabulary or merges.
class Collector : public JsonBuilder {
 public:
  explicit Collector(VocabJson& result) : result_(result) {}

  std::optional<Error>& error() { return error_; }

  bool null() override { return is_inside() ? refuse_value() : JsonBuilder::null(); }
  bool boolean(bool value) override { return is_inside() ? refuse_value() : JsonBuilder::boolean(value); }
  bool number_float(Json::number_float_t value, const std::string& text) override {
    return is_inside() ? refuse_value() : JsonBuilder::number_float(value, text);
  }
  bool number_integer(Json::number_integer_t value) override {
    if (is_in("vocab")) return add_token(value);
    return is_inside() ? refuse_value() : JsonBuilder::number_integer(value);
  }
  bool number_unsigned(Json::number_unsigned_t value) override {
    if (!is_in("vocab")) return is_inside() ? refuse_value() : JsonBuilder::number_unsigned(value);
    if (value <= k_max_token_id) return add_token(static_cast<std::int64_t>(value));
    return refuse(fmt::format("The vocabulary gives token {} the id {}, expected 0 to {}.", in_quotes(token_),
                              value, k_max_token_id));
  }
  bool string(std::string& value) override {
    if (depth() == 2 && top_key_ == "model" && model_key_ == "type") model_type_ = value;
    if (!is_inside()) return JsonBuilder::string(value);
    if (is_in("vocab")) return refuse_value();
    if (is_in_pair_) {
      pair_.push_back(std::move(value));
      return true;
    }
    Result<MergePair> pair = split_merge(value);
    if (!pair) return refuse(std::move(pair.error().text));
    result_.merges.push_back(*std::move(pair));
    return true;
  }
  bool key(std::string& name) override {
    if (depth() == 1) {
      top_key_ = name;
      model_key_.clear();
    } else if (depth() == 2) {
      model_key_ = name;
    } else if (is_in("vocab")) {
      token_ = std::move(name);
      return true;
    }
    JsonBuilder::key(name);
    if (!twice()) return true;
    return refuse(fmt::format("An object has the key {} twice.", in_quotes(*twice())));
  }
  bool start_object(std::size_t n_elements) override {
    return is_inside() ? refuse_value() : is_shallow() && JsonBuilder::start_object(n_elements);
  }
  bool start_array(std::size_t n_elements) override {
    if (!is_inside()) return is_shallow() && JsonBuilder::start_array(n_elements);
    if (is_in("vocab") || is_in_pair_) return refuse_value();
    is_in_pair_ = true;
    pair_.clear();
    return true;
  }
  bool end_array() override {
    if (!is_in_pair_) return JsonBuilder::end_array();
    is_in_pair_ = false;
    if (pair_.size() != 2) return refuse_value();
    result_.merges.emplace_back(std::move(pair_[0]), std::move(pair_[1]));
    return true;
  }

 private:
  bool is_in(std::string_view part) const {
    return depth() == 3 && top_key_ == "model" && model_key_ == part;
  }
  bool is_inside() const { return is_in("vocab") || is_in("merges"); }
  bool is_shallow() {
    return depth() < k_max_json_depth ||
           refuse(fmt::format("It nests deeper than {} levels.", k_max_json_depth));
  }

  bool add_token(std::int64_t id) {
    if (result_.vocab.find(token_)) {
      return refuse(fmt::format("The vocabulary has the token {} twice.", in_quotes(token_)));
    }
    Result<void> added = result_.vocab.add(token_, id);
    return added || refuse(std::move(added.error().text));
  }

  bool refuse_value() {
    if (is_in("vocab") && !model_type_.empty() && model_type_ != "BPE") {
      return refuse(fmt::format("The model is of type {}, expected \"BPE\".", in_quotes(model_type_)));
    }
    if (is_in("vocab")) {
      return refuse(fmt::format("model.vocab gives the token {} no integer as its id.", in_quotes(token_)));
    }
    return refuse(fmt::format("Entry {} of model.merges is neither \"left right\" nor a pair of strings.",
                              result_.merges.size()));
  }

  bool refuse(std::string text) {
    error_ = Error{.code = ErrorCode::corrupt_file, .text = std::move(text)};
    return false;  // nothing more is wanted
  }

  VocabJson& result_;
  std::string top_key_;
  std::string model_key_;
  std::string model_type_;
  std::string token_;
  std::vector<std::string> pair_;
  bool is_in_pair_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<VocabJson> parse_vocab_json(std::string_view json, std::string_view what) {
  VocabJson result;
  Collector collector(result);
  const bool is_json = Json::sax_parse(json, &collector);
  if (collector.error()) {
    collector.error()->text = fmt::format("{}: {}", what, collector.error()->text);
    return std::unexpected<Error>(*std::move(collector.error()));
  }
  if (!is_json) {
    Result<Json> refused = parse_json(json, what);  // words the error
    return refused ? fail(ErrorCode::corrupt_file, fmt::format("{} is not valid JSON.", what))
                   : forward(refused);
  }
  result.rest = collector.take();
  return result;
}

}  // namespace ztvm::text
