#pragma once
// Rows of a recording that forms and recordings are made for, besides one and as many as a pass may have.
#include <cstdint>

namespace ztvm::kernels {

// Up to so many the weights decide how long a matmul takes, not the products.
inline constexpr std::uint32_t k_few_rows = 32;
// Up to so many, large tiles leave most of a GPU idle where there are few of them: weight rows, or heads.
inline constexpr std::uint32_t k_some_rows = 128;

}  // namespace ztvm::kernels
