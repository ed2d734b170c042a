#include "apps/cli/logits.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <filesystem>
#include <fstream>
#include <memory>

namespace ztvm::app {
namespace {

struct LogitsOptions {
  ModelOptions model;
  std::vector<std::uint32_t> ids;
  std::string ids_text;
  std::string out;
  std::string hidden;  // folder; empty: no hidden states
};

Result<void> write_file(const std::string& path, Bytes bytes, std::ios::openmode mode) {
  std::ofstream file(path, std::ios::binary | mode);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  return fail(ErrorCode::io, fmt::format("Cannot write {} to \"{}\".", format_bytes(bytes.size()), path));
}

// Appends the rows of each layer to DIR/layer_NN.bin, which the first call for a layer begins anew.
engine::HiddenSink make_sink(const std::string& folder) {
  if (folder.empty()) return {};
  auto begun = std::make_shared<std::vector<bool>>();
  return [folder, begun](std::size_t layer, Bytes rows) -> Result<void> {
    if (begun->size() <= layer) begun->resize(layer + 1);
    const auto mode = (*begun)[layer] ? std::ios::app : std::ios::trunc;
    (*begun)[layer] = true;
    return write_file(fmt::format("{}/layer_{:02}.bin", folder, layer), rows, mode);
  };
}

int logits(const LogitsOptions& options) {
  const auto model = load_model(options.model, [](std::uint64_t, std::uint64_t) {});
  if (!model) return report(model.error());
  if (!options.hidden.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.hidden, error);
    if (error) {
      return report(
          {ErrorCode::io, fmt::format("Cannot create folder \"{}\": {}.", options.hidden, error.message())});
    }
  }
  const auto values = model->engine->compute_logits(options.ids, make_sink(options.hidden));
  if (!values) return report(values.error());
  if (auto written = write_file(options.out, as_bytes(*values), std::ios::trunc); !written) {
    return report(written.error());
  }
  return k_exit_ok;
}

}  // namespace

void add_logits_command(CLI::App& program, Action& action) {
  CLI::App& command =
      *program.add_subcommand("logits", "Writes the last token's logits as raw little-endian f32");
  auto options = std::make_shared<LogitsOptions>();
  options->model.warn = warn;
  add_model_argument(command, options->model.model);
  command.add_option("--ids", options->ids_text, "Token ids of the prompt: 1,2,3")->required();
  command.add_option("--out", options->out, "File for the logits, [vocab]")->required();
  command.add_option("--hidden", options->hidden,
                     "Folder for the residual stream, [n_tokens, dim]: layer_00.bin is the embedding");
  add_context_option(command, options->model.context);
  add_backend_options(command, options->model);
  command.callback([options, &action] {
    auto ids = parse_ids(options->ids_text);
    if (!ids) fail_usage("--ids: " + ids.error().text);
    options->ids = std::move(*ids);
    if (options->model.context == 0) options->model.context = narrow<std::uint32_t>(options->ids.size());
    action = [options] { return logits(*options); };
  });
}

}  // namespace ztvm::app
