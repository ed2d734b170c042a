// Loads what the other text tests share; it has no tests of its own.
#include "support/tokenizer_data.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace ztvm::tests {

std::string read_test_file(const std::string& path) {
  const std::string full_path = std::string(ZTVM_SOURCE_DIR) + "/tests/" + path;
  if (!path.ends_with(".xz")) {
    std::ifstream file(full_path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string text;
  std::FILE* pipe = popen(("xz -dc '" + full_path + "'").c_str(), "r");
  if (pipe == nullptr) return text;
  char block[65536];
  while (const std::size_t n_bytes = std::fread(block, 1, sizeof(block), pipe)) text.append(block, n_bytes);
  pclose(pipe);
  return text;
}

std::string read_tokenizer_json(const std::string& name) {
  return read_test_file("data/tokenizers/" + name + "/tokenizer.json.xz");
}

const text::Tokenizer& get_tokenizer(const std::string& name) {
  static std::map<std::string, text::Tokenizer> loaded;
  auto found = loaded.find(name);
  if (found == loaded.end()) {
    Result<text::Tokenizer> tokenizer = text::Tokenizer::from_json(read_tokenizer_json(name));
    if (!tokenizer) {
      ADD_FAILURE() << name << ": " << tokenizer.error().text;
      std::abort();
    }
    found = loaded.emplace(name, *std::move(tokenizer)).first;
  }
  return found->second;
}

std::vector<OrderedJson> read_golden_rows(const std::string& file) {
  std::istringstream lines(read_test_file("golden/tokenizers/" + file));
  std::vector<OrderedJson> rows;
  for (std::string line; std::getline(lines, line);) {
    Result<OrderedJson> row = parse_ordered_json(line, file);
    if (!row) {
      ADD_FAILURE() << file << ": " << row.error().text;
      continue;
    }
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace ztvm::tests
