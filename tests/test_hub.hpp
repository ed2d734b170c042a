#pragma once
// A hub with one repository, "o/n", whose files a test can change while it runs.
#include <map>
#include <mutex>
#include <string>

#include "apps/download/content_hash.hpp"
#include "fetch_fixture.hpp"

namespace ztvm::test {

class TestHub {
 public:
  TestHub() : server_([this](const HttpAsk& ask) { return answer(ask); }) {}

  // The server may still answer an ask that was given up.
  void put(const std::string& name, std::string content) {
    const std::lock_guard lock(mutex_);
    files_[name] = std::move(content);
  }
  std::string get(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return files_.at(name);
  }
  void fill_mlc(const std::string& manifest = "ndarray-cache.json") {
    put("mlc-chat-config.json", "{\"model_type\":\"phi3\"}");
    put("tokenizer.json", "{\"version\":\"1.0\"}");
    put("params_shard_0.bin", make_content(3500, 1));
    put("params_shard_1.bin", make_content(700, 2));
    put(manifest, fmt::format("{{\"records\":[{},{}]}}", mlc_record("params_shard_0.bin"),
                              mlc_record("params_shard_1.bin")));
  }
  void fill_safetensors() {
    put("config.json", "{\"model_type\":\"qwen3_5_moe\"}");
    put("tokenizer.json", "{\"version\":\"1.0\"}");
    put("generation_config.json", "{}");
    put("model-00001-of-00002.safetensors", make_content(2500, 3));
    put("model-00002-of-00002.safetensors", make_content(1500, 4));
    put("model.safetensors.index.json",
        "{\"metadata\":{\"total_size\":4000},\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\","
        "\"b\":\"model-00002-of-00002.safetensors\"}}");
  }

  std::string url() const { return server_.url(); }
  std::vector<HttpAsk> asks() const { return server_.asks(); }
  std::size_t n_asks(const std::string& name) const {
    return static_cast<std::size_t>(
        std::ranges::count(asks(), "/o/n/resolve/main/" + name, [](const HttpAsk& ask) { return ask.path; }));
  }

 private:
  std::string mlc_record(const std::string& name) const {
    const TempFolder folder;
    const auto hashes = app::hash_file(folder.write(name, get(name)), {});
    return fmt::format("{{\"dataPath\":\"{}\",\"nbytes\":{},\"md5sum\":\"{}\"}}", name, hashes->n_bytes,
                       hashes->md5);
  }
  HttpReply answer(const HttpAsk& ask) const {
    const std::lock_guard lock(mutex_);
    const std::string base = "/o/n/resolve/main/";
    const auto found = ask.path.starts_with(base) ? files_.find(ask.path.substr(base.size())) : files_.end();
    if (found == files_.end()) return reply(404, {"Content-Length: 15"}, "Entry not found");
    return reply_range(ask, found->second, "\"" + app::sha256_of(as_bytes(found->second)) + "\"");
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> files_;
  HttpTestServer server_;
};

}  // namespace ztvm::test
