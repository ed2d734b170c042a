#include "load/model_files.hpp"

namespace ztvm::load {

std::string_view to_string(CheckpointKind kind) {
  switch (kind) {
    case CheckpointKind::gguf: return "GGUF";
    case CheckpointKind::mlc: return "MLC";
    case CheckpointKind::safetensors: return "safetensors";
  }
  return {};
}

}  // namespace ztvm::load
