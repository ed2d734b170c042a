#include "gpu/pipeline_compiler_native.hpp"

#include <algorithm>

namespace ztvm::gpu {
namespace {

// More would only take memory: a driver's compiler may need 100 MB for each.
constexpr unsigned k_most_threads = 8;

// llvmpipe takes its compilers in turn: two threads take a third more time of the processor, and end no sooner.
unsigned most_threads(AdapterKind kind) {
  if (kind == AdapterKind::cpu) return 1;
  return std::clamp(std::thread::hardware_concurrency(), 1u, k_most_threads);
}

}  // namespace

PipelineCompiler::~PipelineCompiler() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PipelineCompiler::start(PipelineJob& job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(&job);
  if (jobs_.size() > n_idle_ && threads_.size() < most_threads(kind_))
    threads_.emplace_back([this] { work(); });
  changed_.notify_all();
}

bool PipelineCompiler::is_done(const PipelineJob& job) const {
  const std::lock_guard lock(mutex_);
  return job.is_done;
}

void PipelineCompiler::wait(const PipelineJob& job) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return job.is_done; });
}

void PipelineCompiler::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++n_idle_;
    changed_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    --n_idle_;
    if (jobs_.empty()) return;
    PipelineJob& job = *jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    std::optional<Error> error;
    Result<PipelinePtr> pipeline;
    {
      const ErrorSlot::Capture capture(error);
      pipeline = compile_(job);
    }
    if (!pipeline && !error) error = pipeline.error();
    lock.lock();
    if (pipeline) job.pipeline = std::move(*pipeline);
    job.error = std::move(error);
    job.is_done = true;
    changed_.notify_all();
  }
}

}  // namespace ztvm::gpu
