#include "apps/cli/inspect.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <map>
#include <memory>

#include "apps/cli/terminal.hpp"
#include "apps/loaded_model.hpp"
#include "apps/model_catalog.hpp"
#include "engine/model_plan.hpp"
#include "load/describe.hpp"

namespace ztvm::app {
namespace {

// One line a buffer that stands alone, one for each kind that every layer has.
std::string buffer_table(const model::Buffers& buffers) {
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> groups;  // label without layer -> count, bytes
  std::vector<std::string> order;
  for (const model::PlannedBuffer& buffer : buffers.planned()) {
    std::string label = buffer.label;
    for (char& c : label) c = c >= '0' && c <= '9' ? '#' : c;
    while (label.find("##") != std::string::npos) label.replace(label.find("##"), 2, "#");
    const std::string key = fmt::format("{:<10}{}", model::to_string(buffer.role), label);
    if (!groups.contains(key)) order.push_back(key);
    auto& [count, n_bytes] = groups[key];
    ++count;
    n_bytes += buffer.n_bytes;
  }
  std::string text;
  for (const std::string& key : order) {
    const auto& [count, n_bytes] = groups[key];
    text += fmt::format("  {:<48} {:>4} x {:>16} bytes\n", key, count, n_bytes / count);
  }
  return text;
}

std::string memory_plan(const engine::ModelPlan& plan, const gpu::Caps& caps, const gpu::Target& target) {
  using model::BufferRole;
  const model::Buffers& buffers = plan.buffers;
  const std::uint64_t largest = plan.memory.largest_buffer_bytes;
  const std::uint64_t limit = std::min(caps.max_binding_bytes, caps.max_buffer_bytes);
  std::string text = fmt::format("Memory plan for a context of {} tokens, kernel set \"{}\", on {}:\n",
                                 plan.context, gpu::describe(target), caps.adapter);
  text += buffer_table(buffers);
  for (const BufferRole role :
       {BufferRole::weights, BufferRole::kv_cache, BufferRole::state, BufferRole::scratch}) {
    text += fmt::format("  {:<10} {:>10}\n", model::to_string(role), format_bytes(buffers.total_bytes(role)));
  }
  text += fmt::format("  {:<10} {:>10}\n", "total", format_bytes(buffers.total_bytes()));
  text +=
      fmt::format("  The largest buffer has {}; the adapter binds at most {}: {}.\n", format_bytes(largest),
                  format_bytes(limit), largest <= limit ? "it fits" : "it does NOT fit");
  text += fmt::format("  The largest context that the model and this adapter's limits allow: {} tokens.\n",
                      plan.memory.max_context);
  return text;
}

int inspect(const ModelOptions& options) {
  auto path = resolve_model(options.model, model_roots());
  if (!path) return report(path.error());
  auto files = read_model_files(path->path);
  if (!files) return report(files.error());
  print_now(load::describe(*files));
  auto head = engine::read_model_head(std::move(*files));
  if (!head) return report(head.error());
  auto device = open_device(options.backend, options.device);
  if (!device) return report(device.error());
  const gpu::Caps& caps = (*device)->caps();
  const gpu::Target target = options.target.value_or(gpu::choose_target(caps));
  auto plan =
      engine::plan_model(std::move(head->family), head->checkpoint, head->text.tokenizer.vocab_size(), caps,
                         {.context = options.context, .max_rows = 0, .target = target, .kv = options.kv});
  if (!plan) return report(plan.error());
  print_now("\n" + memory_plan(*plan, caps, target));
  return k_exit_ok;
}

}  // namespace

void add_inspect_command(CLI::App& program, Action& action) {
  CLI::App& command =
      *program.add_subcommand("inspect", "Shows what a model file holds and the memory it needs");
  auto options = std::make_shared<ModelOptions>();
  add_model_argument(command, options->model);
  add_context_option(command, options->context);
  add_backend_options(command, *options);
  command.callback([options, &action] { action = [options] { return inspect(*options); }; });
}

}  // namespace ztvm::app
