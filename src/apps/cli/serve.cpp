#include "apps/cli/serve.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/Option.hpp>
#include <filesystem>
#include <memory>
#include <thread>

#include "apps/cli/terminal.hpp"
#include "apps/model_catalog.hpp"
#include "apps/server/http_file.hpp"
#include "apps/server/static_server.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

struct ServeOptions {
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string web;  // empty: web/dist of the source tree, or of the current folder
};

Result<fs::path> find_page(const std::string& web) {
  const std::vector<fs::path> places =
      web.empty()
          ? std::vector<fs::path>{(program_folder() / "../../web/dist").lexically_normal(), "web/dist"}
          : std::vector<fs::path>{web};
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place / "index.html", error)) return place;
  }
  return fail(ErrorCode::not_found,
              fmt::format("\"{}\" has no index.html: ./run builds the page, --web names another folder.",
                          places.front().string()));
}

// The models to serve; a link that leads out of its models folder is left out.
std::vector<ModelEntry> served_models() {
  std::vector<ModelEntry> models = list_models(model_roots());
  std::erase_if(models, [](const ModelEntry& model) {
    const fs::path folder = model.is_folder ? model.path : model.path.parent_path();
    return !lies_inside(folder.parent_path(), model.path);
  });
  return models;
}

// Runs the server on a thread of its own while this one waits for Ctrl-C or SIGTERM.
Result<void> serve_until_signal(StaticServer& server) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // inherited by the server's threads
  Result<void> result;
  std::thread loop([&] {
    result = server.run();
    ::kill(::getpid(), SIGTERM);  // ends the wait below where the server failed by itself
  });
  int signal = 0;
  ::sigwait(&signals, &signal);
  server.stop();
  loop.join();
  return result;
}

int serve(const ServeOptions& options) {
  auto page = find_page(options.web);
  if (!page) return report(page.error());
  auto models = served_models();
  const std::size_t n_models = models.size();
  auto server = StaticServer::bind(
      {.host = options.host, .port = options.port, .web_root = *page, .models = std::move(models)});
  if (!server) return report(server.error());
  print_now(fmt::format("Serving {} with {} model{} (Ctrl-C ends it).\n", (*server)->url(), n_models,
                        n_models == 1 ? "" : "s"));
  if (auto served = serve_until_signal(**server); !served) return report(served.error());
  return k_exit_ok;
}

}  // namespace

void add_serve_command(CLI::App& program, Action& action) {
  CLI::App& command = *program.add_subcommand("serve", "Serves the chat page and the model files");
  auto options = std::make_shared<ServeOptions>();
  command.add_option("--port", options->port, "Port; 0 takes any free one")
      ->check(whole_number(0, 65535))
      ->capture_default_str();
  command.add_option("--host", options->host, "Address to listen on")->capture_default_str();
  command.add_option("--web", options->web, "Folder of the built page");
  command.callback([options, &action] { action = [options] { return serve(*options); }; });
}

}  // namespace ztvm::app
