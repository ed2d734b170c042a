#pragma once
// A recording on the GPU: pipelines and bindings made once, a command list replayed for every pass.
#include <map>
#include <string>
#include <vector>

#include "gpu/op.hpp"

namespace ztvm::gpu {

// Pipelines by their text, so that the layers of a model share them. Owns them.
class PipelineCache {
 public:
  explicit PipelineCache(Device& device) : device_(device) {}
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  PipelineId get(const Op& op, const Target& target);
  std::size_t n_pipelines() const { return pipelines_.size(); }

 private:
  Device& device_;
  std::map<std::string, PipelineId> pipelines_;
};

class Plan {
 public:
  // Starts compiling whatever the cache lacks; the device's poll() says when all is ready or what failed.
  Plan(Device& device, PipelineCache& cache, const Recording& recording);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // Appends the commands [first, last) of a pass. Allocates only while `commands` grows.
  void append(std::vector<Command>& commands, Extent extent, std::size_t first, std::size_t last) const;
  std::size_t n_ops() const { return entries_.size(); }

 private:
  struct Entry {
    Command command;
    Grid grid;
  };
  Device& device_;
  std::vector<Entry> entries_;
};

}  // namespace ztvm::gpu
