#include "base/quant_layout.hpp"

namespace ztvm {

std::string_view to_string(QuantKind kind) {
  switch (kind) {
    case QuantKind::f32: return "f32";
    case QuantKind::f16: return "f16";
    case QuantKind::bf16: return "bf16";
    case QuantKind::q8: return "q8";
    case QuantKind::q4: return "q4";
    case QuantKind::q3: return "q3";
    case QuantKind::q4_k: return "q4_k";
    case QuantKind::q5_k: return "q5_k";
    case QuantKind::q6_k: return "q6_k";
  }
  return {};
}

}  // namespace ztvm
