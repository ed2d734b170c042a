#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/sample/sample.hpp"

namespace ztvm::kernels {
namespace {

struct Candidate {
  double weight = 0.0;
  std::uint32_t token = 0;
};

std::vector<Candidate> load_candidates(std::span<const gpu::HostView> views, std::uint32_t n_valid) {
  const std::size_t slice = sample_slice(n_valid);
  std::vector<Candidate> candidates;
  for (std::size_t s = 0; s < div_up<std::size_t>(n_valid, slice); ++s) {
    for (std::size_t i = s * slice; i < s * slice + views[2].word(s * 2); ++i) {
      if (views[0].load(i) > 0.0f) candidates.push_back({views[0].load(i), views[1].word(i)});
    }
  }
  return candidates;
}

void keep_from(std::vector<Candidate>& candidates, double lowest) {
  std::erase_if(candidates, [lowest](const Candidate& c) { return c.weight < lowest; });
}

double total_weight(std::span<const Candidate> candidates) {
  double total = 0.0;
  for (const Candidate& c : candidates) total += c.weight;
  return total;
}

// The filters by their definition: on a sorted copy. `all` is the weight of all tokens, for top-p without top-k.
void filter(std::vector<Candidate>& candidates, const Step& step, double all) {
  const auto sorted_weights = [&] {
    std::vector<double> weights;
    for (const Candidate& c : candidates) weights.push_back(c.weight);
    std::sort(weights.begin(), weights.end(), std::greater<>());
    return weights;
  };
  if (step.top_k > 0 && step.top_k < candidates.size())
    keep_from(candidates, sorted_weights()[step.top_k - 1]);
  if (step.top_p < 1.0f && !candidates.empty()) {
    const double wanted = double{step.top_p} * (step.top_k > 0 ? total_weight(candidates) : all);
    const std::vector<double> weights = sorted_weights();
    double mass = weights[0];
    std::size_t last = 0;
    while (mass < wanted && last + 1 < weights.size()) mass += weights[++last];
    keep_from(candidates, weights[last]);
  }
  keep_from(candidates, step.min_p);
}

}  // namespace

float sample_random(const Step& step) {
  const auto scramble = [](std::uint32_t v) { return v * 1664525u + 1013904223u; };
  std::uint32_t x = scramble(step.seed_low);
  std::uint32_t y = scramble(step.seed_high);
  std::uint32_t z = scramble(step.n_chosen);
  const auto mix = [&] {
    x += y * z;
    y += z * x;
    z += x * y;
  };
  mix();
  for (std::uint32_t* v : {&x, &y, &z}) *v ^= *v >> 16;
  mix();
  return static_cast<float>(x >> 8) * 0x1p-24f;
}

void sample_cut_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid) {
  const Step step = load_step(views[1]);
  std::vector<float> maxima(div_up(n_valid, sample_slice(n_valid)));
  for (std::size_t s = 0; s < maxima.size(); ++s) maxima[s] = std::bit_cast<float>(views[0].word(s * 4));
  std::sort(maxima.begin(), maxima.end(), std::greater<>());
  const double largest = maxima[0];
  double cut = std::numeric_limits<float>::lowest();
  if (step.top_k > 0 && step.top_k <= maxima.size()) cut = maxima[step.top_k - 1];
  const double lowest_weight = 0.5 * std::max(double{step.min_p}, (1.0 - double{step.top_p}) / n_valid);
  if (lowest_weight > 0.0 && (step.top_k == 0 || step.top_p >= 1.0f)) {
    cut = std::max(cut,
                   largest + double{step.temperature} * std::log(lowest_weight) - 2.4e-7 * std::abs(largest));
  }
  if (step.temperature == 0.0f) cut = largest;
  views[2].store(0, static_cast<float>(largest));
  views[2].store(1, static_cast<float>(cut));
}

void sample_candidates_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid) {
  const Step step = load_step(views[2]);
  const double largest = views[1].load(0);
  const std::size_t slice = sample_slice(n_valid);
  for (std::size_t first = 0, s = 0; first < n_valid; first += slice, ++s) {
    std::uint32_t n = 0;
    std::uint32_t n_not_finite = 0;
    double mass = 0.0;
    for (std::size_t i = first; i < std::min<std::size_t>(first + slice, n_valid); ++i) {
      const float logit = views[0].load(i);
      if (!std::isfinite(logit)) {
        ++n_not_finite;
        continue;
      }
      const double x = logit == largest ? 0.0 : (logit - largest) / step.temperature;
      const double weight = x < -80.0 ? 0.0 : std::exp(x);
      if (step.top_k == 0 && step.top_p < 1.0f) mass += weight;
      if (logit < views[1].load(1)) continue;
      views[3].store(first + n, static_cast<float>(weight));
      views[4].set_word(first + n, static_cast<std::uint32_t>(i));
      ++n;
    }
    views[5].set_word(s * 2, n);
    views[5].set_word(s * 2 + 1, n_not_finite);
    views[6].store(s, static_cast<float>(mass));
    for (; n % 4 != 0; ++n) views[3].store(first + n, 0.0f);
  }
}

void sample_draw_reference(std::span<const gpu::HostView> views, std::uint32_t n_valid) {
  Step step = load_step(views[4]);
  double all = 0.0;
  for (std::uint32_t s = 0; s < div_up(n_valid, sample_slice(n_valid)); ++s) {
    step.n_not_finite += views[2].word(s * 2 + 1);
    all += views[3].load(s);
  }
  std::vector<Candidate> candidates = load_candidates(views, n_valid);
  filter(candidates, step, all);
  const double part = step.temperature == 0.0f ? 0.0 : double{sample_random(step)};
  const double wanted = part * total_weight(candidates);
  double running = 0.0;
  step.choice = 0;
  for (const Candidate& c : candidates) {
    if (running <= wanted) step.choice = c.token;
    running += c.weight;
  }
  store_step(views[4], step);
}

}  // namespace ztvm::kernels
