#include "load/gguf_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_max_tensors = 65536;
constexpr std::uint64_t k_max_name_bytes = 64;
constexpr std::uint32_t k_max_gguf_dims = 4;
constexpr std::uint64_t k_min_entry_bytes = 8 + 1 + 4 + 8 + 4 + 8;  // name, one dimension, type, offset

struct GgmlType {
  std::uint32_t id;
  std::string_view name;
  std::optional<Dtype> dtype;  // nothing: no kernels for it
};

// Type numbers of ggml; those that are missing were never used or were withdrawn.
constexpr std::array k_ggml_types = {
    GgmlType{0, "F32", Dtype::f32},
    GgmlType{1, "F16", Dtype::f16},
    GgmlType{2, "Q4_0", Dtype::q4_0},
    GgmlType{3, "Q4_1", Dtype::q4_1},
    GgmlType{6, "Q5_0", Dtype::q5_0},
    GgmlType{7, "Q5_1", Dtype::q5_1},
    GgmlType{8, "Q8_0", Dtype::q8_0},
    GgmlType{9, "Q8_1", {}},
    GgmlType{10, "Q2_K", {}},
    GgmlType{11, "Q3_K", {}},
    GgmlType{12, "Q4_K", Dtype::q4_k},
    GgmlType{13, "Q5_K", Dtype::q5_k},
    GgmlType{14, "Q6_K", Dtype::q6_k},
    GgmlType{15, "Q8_K", {}},
    GgmlType{16, "IQ2_XXS", {}},
    GgmlType{17, "IQ2_XS", {}},
    GgmlType{18, "IQ3_XXS", {}},
    GgmlType{19, "IQ1_S", {}},
    GgmlType{20, "IQ4_NL", {}},
    GgmlType{21, "IQ3_S", {}},
    GgmlType{22, "IQ2_S", {}},
    GgmlType{23, "IQ4_XS", {}},
    GgmlType{24, "I8", {}},
    GgmlType{25, "I16", {}},
    GgmlType{26, "I32", {}},
    GgmlType{27, "I64", {}},
    GgmlType{28, "F64", {}},
    GgmlType{29, "IQ1_M", {}},
    GgmlType{30, "BF16", Dtype::bf16},
    GgmlType{34, "TQ1_0", {}},
    GgmlType{35, "TQ2_0", {}},
    GgmlType{39, "MXFP4", {}},
};

// Fails the cursor with a sentence about the tensor that is being read.
void fail_tensor(GgufCursor& cursor, const TensorRecord& tensor, std::string_view what,
                 ErrorCode code = ErrorCode::corrupt_file) {
  cursor.fail(code, fmt::format("Tensor {} in {} has {}.", in_quotes(tensor.name), cursor.file(), what));
}

std::string read_name(GgufCursor& cursor, std::uint64_t index) {
  cursor.enter(fmt::format("the name of tensor {}", index));
  const auto n_bytes = cursor.read<std::uint64_t>();
  if (cursor.ok() && (n_bytes == 0 || n_bytes > k_max_name_bytes)) {
    cursor.fail(ErrorCode::corrupt_file,
                fmt::format("{} has a length of {} bytes for {}, expected 1 to {}.", cursor.file(), n_bytes,
                            cursor.context(), k_max_name_bytes));
  }
  const Bytes bytes = cursor.take(n_bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void read_shape(GgufCursor& cursor, TensorRecord& tensor) {
  const auto n_dims = cursor.read<std::uint32_t>();
  if (cursor.ok() && (n_dims == 0 || n_dims > k_max_gguf_dims)) {
    fail_tensor(cursor, tensor, fmt::format("{} dimensions, expected 1 to {}", n_dims, k_max_gguf_dims));
  }
  for (std::uint32_t i = 0; i < n_dims && cursor.ok(); ++i) {
    tensor.shape.insert(tensor.shape.begin(),
                        cursor.read<std::uint64_t>());  // the file lists innermost first
  }
}

void read_dtype(GgufCursor& cursor, TensorRecord& tensor) {
  const auto id = cursor.read<std::uint32_t>();
  if (!cursor.ok()) return;
  const auto type = std::ranges::find(k_ggml_types, id, &GgmlType::id);
  if (type == k_ggml_types.end()) {
    fail_tensor(cursor, tensor, fmt::format("the type number {}, which GGUF does not define", id));
  } else if (!type->dtype) {
    fail_tensor(
        cursor, tensor,
        fmt::format(
            "type {}, supported are F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K",
            type->name),
        ErrorCode::unsupported);
  } else {
    tensor.dtype = *type->dtype;
  }
}

// Sets the length from shape and type, in 64 bits.
void measure(GgufCursor& cursor, TensorRecord& tensor) {
  const DtypeInfo& dtype = info(tensor.dtype);
  if (std::ranges::count(tensor.shape, 0u) != 0) {
    return fail_tensor(cursor, tensor,
                       fmt::format("shape {} with a dimension of 0", shape_text(tensor.shape)));
  }
  if (tensor.dim() % dtype.block_elements != 0) {
    return fail_tensor(cursor, tensor,
                       fmt::format("rows of {} elements, expected a multiple of {} for type {}", tensor.dim(),
                                   dtype.block_elements, dtype.name));
  }
  std::optional<std::uint64_t> n_bytes = checked_mul(tensor.dim() / dtype.block_elements, dtype.block_bytes);
  for (std::size_t i = 0; i + 1 < tensor.shape.size() && n_bytes; ++i)
    n_bytes = checked_mul(*n_bytes, tensor.shape[i]);
  if (!n_bytes || *n_bytes > cursor.n_file_bytes()) {
    return fail_tensor(cursor, tensor,
                       fmt::format("shape {} of type {}, which needs more bytes than the {} of the file",
                                   shape_text(tensor.shape), dtype.name, cursor.n_file_bytes()));
  }
  tensor.parts.front().range.n_bytes = *n_bytes;
}

void check_unique_names(GgufCursor& cursor, const std::vector<TensorRecord>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorRecord& tensor : tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return;
  cursor.fail(ErrorCode::corrupt_file,
              fmt::format("{} has two tensors named {}.", cursor.file(), in_quotes(*twice)));
}

}  // namespace

std::vector<TensorRecord> read_gguf_tensors(GgufCursor& cursor, std::uint64_t n_tensors) {
  cursor.enter("the tensor table");
  cursor.check_count(n_tensors, k_min_entry_bytes, "tensors");
  if (n_tensors > k_max_tensors) {
    cursor.fail(ErrorCode::corrupt_file, fmt::format("{} announces {} tensors, expected at most {}.",
                                                     cursor.file(), n_tensors, k_max_tensors));
  }
  std::vector<TensorRecord> tensors;
  for (std::uint64_t i = 0; i < n_tensors && cursor.ok(); ++i) {
    TensorRecord tensor;
    tensor.name = read_name(cursor, i);
    cursor.enter(fmt::format("the table entry of tensor {}", in_quotes(tensor.name)));
    read_shape(cursor, tensor);
    read_dtype(cursor, tensor);
    const auto offset = cursor.read<std::uint64_t>();
    tensor.parts = {{.file = 0, .range = {.offset = offset}, .dtype = tensor.dtype}};
    if (cursor.ok()) measure(cursor, tensor);
    tensors.push_back(std::move(tensor));
  }
  if (cursor.ok()) check_unique_names(cursor, tensors);
  return tensors;
}

Result<void> place_gguf_tensors(std::vector<TensorRecord>& tensors, const TensorArea& area) {
  for (TensorRecord& tensor : tensors) {
    ByteRange& range = tensor.parts.front().range;
    const std::uint64_t offset = range.offset;
    if (offset % area.alignment != 0) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("Tensor {} in {} has the offset {}, expected a multiple of the alignment {}.",
                              in_quotes(tensor.name), area.file, offset, area.alignment));
    }
    const auto first = checked_add(area.first_byte, offset);
    const auto end = first ? checked_add(*first, range.n_bytes) : std::nullopt;
    if (!end || *end > area.n_file_bytes) {
      return fail(
          ErrorCode::corrupt_file,
          fmt::format(
              "Tensor {} has {} bytes at offset {} of the tensor data, which starts at byte {}, but {} "
              "ends at byte {}; it may be truncated.",
              in_quotes(tensor.name), range.n_bytes, offset, area.first_byte, area.file, area.n_file_bytes));
    }
    range.offset = *first;
  }
  std::ranges::sort(tensors, {},
                    [](const TensorRecord& tensor) { return tensor.parts.front().range.offset; });
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const TensorRecord& before = tensors[i - 1];
    const TensorRecord& after = tensors[i];
    const ByteRange& range = before.parts.front().range;
    const std::uint64_t next = after.parts.front().range.offset;
    if (range.end() <= next) continue;
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensors {} (bytes {} to {}) and {} (from byte {}) overlap in {}.",
                            in_quotes(before.name), range.offset, range.end(), in_quotes(after.name), next,
                            area.file));
  }
  return {};
}

}  // namespace ztvm::load
