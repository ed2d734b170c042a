#include "text/vocab_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

#include "base/in_quotes.hpp"

namespace ztvm::text {
namespace {

using Event = Json::parse_event_t;

// The parser's callback: takes the entries of model.vocab and model.merges and tells the parser to drop them.
// Depths: keys of the file 1, keys of the model 2, entries of its vocabulary and merges 3, tokens of a
// pair 4.
class Collector {
 public:
  explicit Collector(VocabJson& result) : result_(result) {}

  bool operator()(int depth, Event event, Json& parsed) {
    if (event == Event::key && depth == 1) top_key_ = parsed.get<std::string>();
    if (event == Event::key && depth == 2) model_key_ = parsed.get<std::string>();
    if (depth > k_max_json_depth) refuse(fmt::format("It nests deeper than {} levels.", k_max_json_depth));
    if (error_) return false;  // nothing more is wanted
    if (depth < 3 || top_key_ != "model") return true;
    if (model_key_ == "vocab") return take_vocab(event, parsed);
    if (model_key_ == "merges") return take_merge(depth, event, parsed);
    return true;
  }

  std::optional<Error>& error() { return error_; }

 private:
  bool take_vocab(Event event, Json& parsed) {
    if (event == Event::key) {
      token_ = parsed.get<std::string>();
      return false;
    }
    if (event != Event::value || !parsed.is_number_integer()) {
      refuse(fmt::format("model.vocab gives the token {} no integer as its id.", in_quotes(token_)));
      return true;
    }
    if (parsed.is_number_unsigned() && parsed.get<std::uint64_t>() > k_max_token_id) {
      refuse(fmt::format("The vocabulary gives token \"{}\" the id {}, expected 0 to {}.", token_,
                         parsed.dump(), k_max_token_id));
      return true;
    }
    Result<void> added = result_.vocab.add(token_, parsed.get<std::int64_t>());
    if (!added) error_ = std::move(added.error());
    return true;  // the parser drops it with its key
  }

  bool take_merge(int depth, Event event, Json& parsed) {
    if (depth == 3 && event == Event::value && parsed.is_string()) {
      Result<MergePair> pair = split_merge(parsed.get_ref<const std::string&>());
      if (pair) {
        result_.merges.push_back(*std::move(pair));
      } else {
        error_ = std::move(pair.error());
      }
    } else if (depth == 4 && event == Event::value && parsed.is_string()) {
      pair_.push_back(std::move(parsed.get_ref<std::string&>()));
    } else if (depth == 3 && event == Event::array_start) {
      pair_.clear();
      return true;
    } else if (depth == 3 && event == Event::array_end && pair_.size() == 2) {
      result_.merges.emplace_back(std::move(pair_[0]), std::move(pair_[1]));
    } else {
      refuse(fmt::format("Entry {} of model.merges is neither \"left right\" nor a pair of strings.",
                         result_.merges.size()));
    }
    return false;
  }

  void refuse(std::string text) { error_ = Error{.code = ErrorCode::corrupt_file, .text = std::move(text)}; }

  VocabJson& result_;
  std::string top_key_;
  std::string model_key_;
  std::string token_;
  std::vector<std::string> pair_;
  std::optional<Error> error_;
};

}  // namespace

Result<VocabJson> parse_vocab_json(std::string_view json, std::string_view what) {
  VocabJson result;
  Collector collector(result);
  const Json::parser_callback_t callback = [&](int depth, Event event, Json& parsed) {
    return collector(depth, event, parsed);
  };
  result.rest = Json::parse(json, callback, false);
  if (collector.error()) {
    collector.error()->text = fmt::format("{}: {}", what, collector.error()->text);
    return std::unexpected<Error>(*std::move(collector.error()));
  }
  if (result.rest.is_discarded()) {
    Result<Json> refused = parse_json(json, what);  // words the error
    return refused ? fail(ErrorCode::corrupt_file, fmt::format("{} is not valid JSON.", what))
                   : forward(refused);
  }
  return result;
}

}  // namespace ztvm::text
