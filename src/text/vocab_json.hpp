#pragma once
// The two huge parts of a tokenizer.json, model.vocab and model.merges, taken out while parsing: as a JSON
// tree they would need hundreds of megabytes.
#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "text/merges.hpp"
#include "text/vocab.hpp"

namespace ztvm::text {

struct VocabJson {
  Vocab vocab;
  std::vector<MergePair> merges;  // best first
  Json rest;                      // the file with model.vocab and model.merges emptied
};

// Errors: corrupt_file for text that is no JSON, and for a vocabulary or merges of another form.
Result<VocabJson> parse_vocab_json(std::string_view json, std::string_view what);

}  // namespace ztvm::text
