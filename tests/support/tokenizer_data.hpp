#pragma once
// The tokenizers and golden rows that the text tests use.
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "base/json.hpp"
#include "text/tokenizer.hpp"
#include "text/vocab_json.hpp"

namespace ztvm::tests {

inline const std::vector<std::string> k_tokenizer_names = {"phi3",  "llama2", "mistral", "smollm2",
                                                           "qwen3", "qwen35", "llama3"};

// The text of tests/data/tokenizers/<name>/<file>; an .xz file is unpacked by the xz program.
std::string read_test_file(const std::string& path);

// The tokenizer.json called `name`, and its tokenizer; each is made once for all tests, for it takes seconds.
const text::VocabJson& get_vocab(const std::string& name);
const text::Tokenizer& get_tokenizer(const std::string& name);

// The rows of tests/golden/tokenizers/<file>; none if there is no such file.
std::vector<OrderedJson> read_golden_rows(const std::string& file);

}  // namespace ztvm::tests
