#include <cmath>
#include <vector>

#include "kernels/delta_rule/delta_rule_chunks.hpp"
#include "kernels/delta_rule/delta_rule_row.hpp"

namespace ztvm::kernels {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Decay of rows `first` to `last - 1`.
double decay_of(const std::vector<DeltaRow>& rows, std::size_t first, std::size_t last) {
  double sum = 0.0;
  for (std::size_t r = first; r < last; ++r) sum += rows[r].log_decay;
  return std::exp(sum);
}

// The block of one chunk and head, of which wgsl's delta_rule_prepare tells the formulas.
std::vector<double> prepare_block(const std::vector<DeltaRow>& rows) {
  const std::size_t n = rows.size();
  std::vector<double> block(chunk_block_elements(static_cast<std::uint32_t>(n)));
  for (std::size_t t = 0; t < n; ++t) {
    block[t * n + t] = 1.0;
    for (std::size_t s = 0; s <= t; ++s) {
      const double ratio = decay_of(rows, s + 1, t + 1);
      block[n * n + t * n + s] = ratio * dot(rows[t].q, rows[s].k);
      if (s == t) continue;
      const double error = rows[t].strength * ratio * dot(rows[t].k, rows[s].k);
      for (std::size_t c = 0; c <= s; ++c) block[t * n + c] -= error * block[s * n + c];
    }
    const std::size_t factors = 2 * n * n + 4 * t;
    block[factors] = rows[t].strength * decay_of(rows, 0, t + 1) * rows[t].k_factor;
    block[factors + 1] = rows[t].strength;
    block[factors + 2] = decay_of(rows, 0, t + 1) * rows[t].q_factor;
    block[factors + 3] = decay_of(rows, t + 1, n) * rows[t].k_factor;
  }
  for (std::size_t i = block.size() - 4; i < block.size(); ++i) block[i] = decay_of(rows, 0, n);
  return block;
}

// One column of one head's S, and the chunk's rows of V, K and Q as they are stored.
struct Column {
  const gpu::HostView& qkv;
  const gpu::HostView& chunks;
  const DeltaRuleShape& shape;
  std::size_t chunk = 0;
  std::size_t head = 0;
  std::size_t column = 0;
  std::vector<double> state;  // [key_dim]

  double product(std::size_t first) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < state.size(); ++i) sum += qkv.load(first + i) * state[i];
    return sum;
  }
  // Moves on by `n_rows` rows from `first_row` on, and returns their outputs.
  std::vector<double> advance(std::size_t first_row, std::size_t n_rows);
};

std::vector<double> Column::advance(std::size_t first_row, std::size_t n_rows) {
  const std::size_t block_elements = chunk_block_elements(static_cast<std::uint32_t>(chunk));
  const std::size_t block = (first_row / chunk * shape.n_value_heads + head) * block_elements;
  const auto factor = [&](std::size_t t, std::size_t i) {
    return chunks.load(block + 2 * chunk * chunk + 4 * t + i);
  };
  std::vector<double> errors(n_rows);
  std::vector<double> corrections(n_rows);
  std::vector<double> out(n_rows);
  for (std::size_t t = 0; t < n_rows; ++t) {
    const QkvPlace place = qkv_place(shape, first_row + t, head);
    errors[t] = double{factor(t, 1)} * qkv.load(place.v + column) - factor(t, 0) * product(place.k);
    out[t] = factor(t, 2) * product(place.q);
  }
  for (std::size_t t = 0; t < n_rows; ++t) {
    for (std::size_t s = 0; s <= t; ++s) corrections[t] += chunks.load(block + t * chunk + s) * errors[s];
    for (std::size_t s = 0; s <= t; ++s)
      out[t] += chunks.load(block + chunk * chunk + t * chunk + s) * corrections[s];
  }
  for (double& s : state) s *= chunks.load(block + block_elements - 4);
  for (std::size_t t = 0; t < n_rows; ++t) {
    const std::size_t first_k = qkv_place(shape, first_row + t, head).k;
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] += double{factor(t, 3)} * qkv.load(first_k + i) * corrections[t];
  }
  return out;
}

}  // namespace

void delta_rule_prepare_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                                  std::uint32_t chunk) {
  const std::size_t n_chunks = div_up(load_step(views[0]).n_rows, chunk);
  for (std::size_t c = 0; c < n_chunks; ++c) {
    for (std::size_t h = 0; h < shape.n_value_heads; ++h) {
      std::vector<DeltaRow> rows;
      for (std::size_t t = 0; t < chunk; ++t) rows.push_back(load_delta_row(views, shape, c * chunk + t, h));
      const std::vector<double> block = prepare_block(rows);
      const std::size_t first = (c * shape.n_value_heads + h) * block.size();
      for (std::size_t i = 0; i < block.size(); ++i) views[5].store(first + i, static_cast<float>(block[i]));
    }
  }
}

void delta_rule_chunks_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                                 std::uint32_t chunk) {
  const Step step = load_step(views[0]);
  const gpu::HostView& state = views[3];
  for (std::size_t h = 0; h < shape.n_value_heads; ++h) {
    for (std::size_t j = 0; j < shape.value_dim; ++j) {
      Column column = {.qkv = views[1],
                       .chunks = views[2],
                       .shape = shape,
                       .chunk = chunk,
                       .head = h,
                       .column = j,
                       .state = std::vector<double>(shape.key_dim)};
      const auto at = [&](std::size_t i) { return (h * shape.key_dim + i) * shape.value_dim + j; };
      for (std::size_t i = 0; i < shape.key_dim; ++i)
        column.state[i] = step.position > 0 ? state.load(at(i)) : 0.0f;
      for (std::size_t first = 0; first < step.n_rows; first += chunk) {
        const std::vector<double> out =
            column.advance(first, std::min<std::size_t>(chunk, step.n_rows - first));
        for (std::size_t t = 0; t < out.size(); ++t) {
          views[4].store(((first + t) * shape.n_value_heads + h) * shape.value_dim + j,
                         static_cast<float>(out[t]));
        }
      }
      for (std::size_t i = 0; i < shape.key_dim; ++i) state.store(at(i), static_cast<float>(column.state[i]));
    }
  }
}

}  // namespace ztvm::kernels
