#pragma once
// Copies of recurrent state (DeltaNet's) at some positions of the sequence. Keys and values can be cut back to any
// position; a recurrent state cannot, so prefix reuse starts from the last copy inside the common prefix.
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "gpu/device.hpp"
#include "model/decoder.hpp"

namespace ztvm::engine {

class RecurrentSnapshots {
 public:
  // What a copy is for: near the end of the prompt, where the next turn of a chat parts from this one; or the latest of
  // those made now and then during decode.
  enum class Kind : std::uint8_t { prompt, decode };

  // The buffers outlive this.
  RecurrentSnapshots(gpu::Device& device, std::span<const model::RecurrentBuffers> buffers)
      : device_(device), buffers_(buffers) {}

  // False for a model without recurrent state; then nothing here has to be called.
  bool needed() const { return !buffers_.empty(); }

  // Copies the live state, which has taken in `position` tokens once everything submitted so far has run.
  void save(Kind kind, std::uint32_t position);
  // Says what the live state has taken in; nothing when that is not known.
  void set_live(std::optional<std::uint32_t> position) { live_ = position; }
  // Makes live the state with the largest known position of at most `limit`, and forgets those beyond.
  // Returns that position; 0 when there is none, where kernels start from an empty state.
  std::uint32_t restore(std::uint32_t limit);
  // Forgets copies of more than `position` tokens.
  void drop_beyond(std::uint32_t position);
  void clear();

 private:
  gpu::Device& device_;
  std::span<const model::RecurrentBuffers> buffers_;
  std::optional<std::uint32_t> live_;
  std::array<std::optional<std::uint32_t>, model::k_recurrent_copies> saved_;
};

}  // namespace ztvm::engine
