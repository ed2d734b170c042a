#pragma once
// A case of the kernel, as its lists write it: matmul_cases.cpp and matmul_shape_cases.cpp. Private to this folder.
#include <string_view>
#include <vector>

#include "kernels/cases.hpp"
#include "kernels/matmul/matmul.hpp"

namespace ztvm::kernels {

struct MatmulCase {
  QuantKind kind = QuantKind::q4;
  Epilogue epilogue = Epilogue::store;
  std::uint32_t n_weight_rows = 0;  // swiglu: gate and up
  std::uint32_t dim = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Rows rows = Rows::all;
  std::uint32_t n_parts = 1;
  Fill weights = Fill::normal;
  Fill x = Fill::normal;
  bool norm = false;
  bool least_limits = false;
};

KernelCase make_case(const MatmulCase& c, std::string_view what, bool quick);

// Sizes: row lengths, all forms of some shapes, the models' true shapes.
void add_shape_cases(std::vector<KernelCase>& cases);

}  // namespace ztvm::kernels
