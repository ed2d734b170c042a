#pragma once
// Compiles pipelines on several threads: drivers take from milliseconds (out of their cache) to seconds for each.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu/webgpu_handles.hpp"

namespace ztvm::gpu {

struct PipelineJob {
  std::string label;
  std::string wgsl;
  PipelineLayoutPtr layout;
  // Once it is done, which the compiler guards: the pipeline, or why there is none that could be used.
  PipelinePtr pipeline;
  std::optional<Error> error;
  bool is_done = false;
};

class PipelineCompiler {
 public:
  using Compile = std::function<Result<PipelinePtr>(const PipelineJob&)>;

  // What compile() stores in an ErrorSlot is its error, before what it returns.
  PipelineCompiler(Compile compile, AdapterKind kind) : compile_(std::move(compile)), kind_(kind) {}
  PipelineCompiler(const PipelineCompiler&) = delete;
  PipelineCompiler& operator=(const PipelineCompiler&) = delete;
  // Drops what has not begun, waits for what has.
  ~PipelineCompiler();

  // Borrows the job until it is done. A failure stays in the job.
  void start(PipelineJob& job);
  bool is_done(const PipelineJob& job) const;
  void wait(const PipelineJob& job) const;

 private:
  void work();

  Compile compile_;
  AdapterKind kind_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<PipelineJob*> jobs_;
  bool ends_ = false;
  std::size_t n_idle_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace ztvm::gpu
