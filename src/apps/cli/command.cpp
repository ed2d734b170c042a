#include "apps/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

namespace ztvm::app {

void fail_usage(const std::string& option, const std::string& text) { throw CLI::ValidationError(option, text); }

int report(const Error& error) {
  fmt::print(stderr, "zerotvm: {}\n", error.text);
  return k_exit_failure;
}

void add_model_argument(CLI::App& command, std::string& model) {
  command.add_option("MODEL", model, "Alias (smollm2), folder with one .gguf, or .gguf file")->required();
}

void add_backend_options(CLI::App& command, engine::Backend& backend, std::string& adapter) {
  static const std::map<std::string, engine::Backend> k_backends = {{"gpu", engine::Backend::gpu},
                                                                    {"reference", engine::Backend::reference}};
  command.add_option("--backend", backend, "gpu, or reference: the kernels' oracles on the CPU")
      ->transform(CLI::CheckedTransformer(k_backends).description("gpu|reference"));
  command.add_option("--adapter", adapter, "GPU to use: a part of its name, as `zerotvm doctor` shows it");
}

Result<std::vector<std::uint32_t>> parse_ids(std::string_view text) {
  std::vector<std::uint32_t> ids;
  for (std::string_view rest = text;;) {
    const std::size_t n_chars = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, n_chars);
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), id);
    if (error != std::errc() || end != item.data() + item.size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("\"{}\" is no token id, expected decimal numbers with commas between.", item));
    }
    ids.push_back(id);
    if (n_chars == rest.size()) return ids;
    rest.remove_prefix(n_chars + 1);
  }
}

}  // namespace ztvm::app
