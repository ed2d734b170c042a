#pragma once
// A model as its files describe it: tensors, and the texts and metadata that configure them.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/checkpoint.hpp"
#include "load/gguf.hpp"

namespace ztvm::load {

enum class CheckpointKind : std::uint8_t { gguf, mlc, safetensors };
std::string_view to_string(CheckpointKind kind);

// Files beside the weights, as they are; nothing where there is none. A .gguf has all of it in its metadata.
struct ModelTexts {
  std::optional<std::string> mlc_chat_config;  // mlc-chat-config.json, of every MLC model
  std::optional<std::string> config;           // config.json, of every safetensors model
  std::optional<std::string> generation_config;
  std::optional<std::string> tokenizer;  // tokenizer.json, of every folder
  std::optional<std::string> tokenizer_config;
  std::optional<std::string> chat_template;  // chat_template.jinja
};

struct ModelFiles {
  CheckpointKind kind = CheckpointKind::gguf;
  Checkpoint checkpoint;
  std::optional<GgufHeader> gguf;  // of a .gguf
  // Values of a .gguf's tensor rope_freqs.weight, which say how positions are rotated; empty: it has none.
  std::vector<float> rope_factors;
  ModelTexts texts;
};

}  // namespace ztvm::load
