#pragma once
// The tokenizers and golden rows that the text tests use.
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "base/json.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::tests {

inline const std::vector<std::string> k_tokenizer_names = {"phi3",  "llama2", "mistral", "smollm2",
                                                           "qwen3", "qwen35", "llama3"};

// The text of tests/data/tokenizers/<name>/<file>; an .xz file is unpacked by the xz program.
std::string read_test_file(const std::string& path);
std::string read_tokenizer_json(const std::string& name);

// The tokenizer called `name`, loaded once for all tests.
const text::Tokenizer& get_tokenizer(const std::string& name);

// The rows of tests/golden/tokenizers/<file>; none if there is no such file.
std::vector<OrderedJson> read_golden_rows(const std::string& file);

}  // namespace ztvm::tests
