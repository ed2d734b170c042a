#pragma once
// The tile of a workgroup of matmul_gpu_integer.wgsl, for its two users: matmul and expert_matmul.
#include <cstdint>
#include <utility>

#include "gpu/program.hpp"

namespace ztvm::kernels {

struct IntegerTile {
  static constexpr std::uint32_t k_thread_columns = 4;  // the shader has no other
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t thread_rows = 0;
  std::uint32_t teams = 0;
  std::uint32_t stage = 0;  // groups in workgroup memory
};

// The shader's constants of these names.
inline void add_tile_consts(gpu::Program& program, const IntegerTile& tile) {
  for (const auto& [constant, value] : {std::pair{"TILE_ROWS", tile.rows},
                                        {"TILE_COLUMNS", tile.columns},
                                        {"THREAD_ROWS", tile.thread_rows},
                                        {"THREAD_COLUMNS", IntegerTile::k_thread_columns},
                                        {"TEAMS", tile.teams},
                                        {"STAGE", tile.stage}}) {
    program.consts.push_back(gpu::const_u32(constant, value));
  }
}

}  // namespace ztvm::kernels
