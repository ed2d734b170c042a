#include "kernels/matrix.hpp"

namespace ztvm::kernels {

std::string_view weights_part(QuantKind kind) {
  switch (kind) {
    case QuantKind::f32: return "weights_f32";
    case QuantKind::f16: return "weights_f16";
    case QuantKind::bf16: return "weights_bf16";
    case QuantKind::q8: return "weights_q8";
    case QuantKind::q4: return "weights_q4";
    case QuantKind::q3: return "weights_q3";
    case QuantKind::q4_k: return "weights_q4_k";
    case QuantKind::q5_k: return "weights_q5_k";
    case QuantKind::q6_k: return "weights_q6_k";
  }
  return {};
}

std::vector<std::string_view> levels_parts(QuantKind kind) {
  switch (kind) {
    case QuantKind::q4: return {"levels", "levels_q4"};
    case QuantKind::q8: return {"levels", "levels_q8"};
    case QuantKind::q3:
    case QuantKind::q4_k:
    case QuantKind::q5_k: return {"levels", "levels_any", "quads", weights_part(kind)};
    case QuantKind::q6_k:
    case QuantKind::f32:
    case QuantKind::f16:
    case QuantKind::bf16: return {};
  }
  return {};
}

void load_row(const gpu::HostView& words, const gpu::HostView& scales, QuantKind kind, std::uint32_t row,
              std::span<float> out) {
  const QuantLayout layout{.kind = kind, .dim = static_cast<std::uint32_t>(out.size())};
  const auto row_of = [row](const gpu::HostView& view, std::uint64_t row_bytes) {
    return Bytes(view.bytes)
        .subspan(static_cast<std::size_t>(row * row_bytes), static_cast<std::size_t>(row_bytes));
  };
  dequantise_row(kind, row_of(words, layout.words_bytes_per_row()),
                 layout.has_scales() ? row_of(scales, layout.scales_bytes_per_row()) : Bytes(), out);
}

}  // namespace ztvm::kernels
