#include "load/mlx_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

struct Triple {
  const RawTensor* words = nullptr;
  const RawTensor* scales = nullptr;
  const RawTensor* biases = nullptr;
};

// Rows of words that hold as many weights as the row of scales covers; the rest of the shapes is the same.
bool fits(const Triple& triple, const AffineGroup& group) {
  const std::vector<std::uint64_t>& words = triple.words->shape;
  const std::vector<std::uint64_t>& scales = triple.scales->shape;
  if (words.size() < 2 || words.size() != scales.size() || scales != triple.biases->shape) return false;
  if (!std::ranges::equal(std::span(words).first(words.size() - 1),
                          std::span(scales).first(scales.size() - 1))) {
    return false;
  }
  const auto bits_of_words = checked_mul(words.back(), 32);
  const auto dim = checked_mul(scales.back(), group.group);
  const auto bits_of_weights = dim ? checked_mul(*dim, group.bits) : std::nullopt;
  return bits_of_words && bits_of_weights && *bits_of_words == *bits_of_weights &&
         std::ranges::count(words, 0u) == 0;
}

std::unexpected<Error> refuse(const RawTensor& tensor, const Checkpoint& checkpoint, std::string_view what) {
  return fail(ErrorCode::corrupt_file, fmt::format("Tensor {} {}, in {}.", in_quotes(tensor.name), what,
                                                   checkpoint.files[tensor.file].name));
}

Result<TensorRecord> join_triple(const Triple& triple, const std::string& base, const AffineConfig& config,
                                 const Checkpoint& checkpoint) {
  const auto group = config.of(base);
  if (!group) {
    return refuse(*triple.words, checkpoint, "is packed, but config.json does not say with how many bits");
  }
  const auto scale_dtype = plain_dtype(triple.scales->type);
  const auto bias_dtype = plain_dtype(triple.biases->type);
  if (!scale_dtype || !bias_dtype) {
    return refuse(*triple.words, checkpoint,
                  fmt::format("has scales of type {} and biases of type {}, expected floats",
                              triple.scales->type_name, triple.biases->type_name));
  }
  if (!fits(triple, *group)) {
    return refuse(
        *triple.words, checkpoint,
        fmt::format("has words of shape {}, scales {} and biases {}, expected [.., n, k*{}/32] and twice "
                    "[.., n, k/{}] as config.json says",
                    shape_text(triple.words->shape), shape_text(triple.scales->shape),
                    shape_text(triple.biases->shape), group->bits, group->group));
  }
  TensorRecord record = {.name = triple.words->name,
                         .dtype = Dtype::affine,
                         .bits = group->bits,
                         .group = group->group,
                         .shape = triple.words->shape,
                         .parts = {}};
  record.shape.back() = triple.scales->shape.back() * group->group;
  record.parts = {part_of(*triple.words, Dtype::affine), part_of(*triple.scales, *scale_dtype),
                  part_of(*triple.biases, *bias_dtype)};
  return record;
}

class Joiner {
 public:
  Joiner(std::span<const RawTensor> tensors, const AffineConfig& config, Checkpoint& checkpoint)
      : table_(tensors), config_(config), checkpoint_(checkpoint) {}

  Result<void> add(const RawTensor& tensor) {
    const auto base = without_suffix(tensor.name, ".weight");
    if (base && tensor.type == RawType::u32) return add_packed(tensor, *base);
    for (const std::string_view suffix : {".scales", ".biases"}) {
      const auto module = without_suffix(tensor.name, suffix);
      if (!module) continue;
      const RawTensor* words = table_.find(*module + ".weight");
      if (words == nullptr)
        return refuse(tensor, checkpoint_,
                      fmt::format("has no {} to go with it", in_quotes(*module + ".weight")));
      if (words->type == RawType::u32) return {};  // its words bring it along
    }
    if (auto record = plain_record(tensor)) {
      checkpoint_.tensors.push_back(std::move(*record));
    } else {
      checkpoint_.skipped.push_back({.name = tensor.name, .type = tensor.type_name, .file = tensor.file});
    }
    return {};
  }

 private:
  Result<void> add_packed(const RawTensor& words, const std::string& base) {
    Triple triple = {.words = &words};
    for (const auto& [suffix, part] :
         {std::pair(".scales", &triple.scales), std::pair(".biases", &triple.biases)}) {
      *part = table_.find(base + suffix);
      if (*part == nullptr)
        return refuse(words, checkpoint_, fmt::format("has no {} to go with it", in_quotes(base + suffix)));
    }
    auto record = join_triple(triple, base, config_, checkpoint_);
    if (!record) return forward(record);
    checkpoint_.tensors.push_back(std::move(*record));
    return {};
  }

  RawTable table_;
  const AffineConfig& config_;
  Checkpoint& checkpoint_;
};

}  // namespace

Result<void> join_mlx_tensors(std::span<const RawTensor> tensors, const AffineConfig& config,
                              Checkpoint& checkpoint) {
  Joiner joiner(tensors, config, checkpoint);
  for (const RawTensor& tensor : tensors) {
    if (auto added = joiner.add(tensor); !added) return added;
  }
  return check_unique_records(checkpoint);
}

}  // namespace ztvm::load
