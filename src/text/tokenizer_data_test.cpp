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

namespace {

// What `make` gives for `name`, kept in `made`.
template <typename T, typename Make>
const T& get_once(std::map<std::string, T>& made, const std::string& name, const Make& make) {
  auto found = made.find(name);
  if (found == made.end()) {
    Result<T> one = make();
    if (!one) {
      ADD_FAILURE() << name << ": " << one.error().text;
      std::abort();
    }
    found = made.emplace(name, *std::move(one)).first;
  }
  return found->second;
}

}  // namespace

const text::VocabJson& get_vocab(const std::string& name) {
  static std::map<std::string, text::VocabJson> parsed;
  return get_once(parsed, name, [&] {
    return text::parse_vocab_json(read_test_file("data/tokenizers/" + name + "/tokenizer.json.xz"), name);
  });
}

const text::Tokenizer& get_tokenizer(const std::string& name) {
  static std::map<std::string, text::Tokenizer> loaded;
  return get_once(loaded, name, [&] { return text::Tokenizer::from_vocab_json(get_vocab(name)); });
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
