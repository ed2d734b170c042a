#include "support/golden_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "apps/clock.hpp"
#include "apps/loaded_model.hpp"
#include "gpu/host_device.hpp"
#include "support/test_adapter.hpp"

namespace ztvm::tests {
namespace {

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text);
  return std::move(*result);
}
void check_or_throw(Result<void> result) {
  if (!result) throw std::runtime_error(result.error().text);
}

}  // namespace

OpenModel open_model(const std::string& path, const OpenOptions& options) {
  OpenModel model;
  if (options.backend == engine::Backend::reference) {
    model.device = gpu::make_host_device();
  } else {
    model.device = value_or_throw(gpu::open_webgpu_device(test_adapter()));
  }
  auto source = value_or_throw(app::ModelSource::open(path));
  model.engine = value_or_throw(engine::Engine::open(*model.device, source.name(),
                                                     {.context = options.context,
                                                      .max_rows = options.max_rows,
                                                      .backend = options.backend,
                                                      .target = options.target,
                                                      .kv = options.kv,
                                                      .tuning = options.tuning,
                                                      .autotune = options.autotune,
                                                      .now_ms = app::now_ms,
                                                      .report = options.report}));
  check_or_throw(app::supply_model(*model.engine, source, [](const load::WantedRange&, std::size_t) {}));
  check_or_throw(app::wait_until_ready(*model.engine));
  return model;
}

Generated run_to_end(engine::Engine& engine) {
  Generated result;
  while (result.finish == engine::FinishReason::none) {
    const engine::StepEvent event = value_or_throw(engine.step(true));
    result.ids.insert(result.ids.end(), event.ids.begin(), event.ids.end());
    result.text += event.text;
    result.finish = event.finish;
  }
  return result;
}

Generated generate(engine::Engine& engine, std::span<const std::uint32_t> ids,
                   const engine::GenerateOptions& options) {
  check_or_throw(engine.begin_ids(ids, options));
  return run_to_end(engine);
}

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  return nlohmann::json::parse(file);
}

std::vector<float> read_floats(const std::string& path) {
  const auto file = value_or_throw(app::FileSource::open(path));
  std::vector<float> values(file.n_bytes() / sizeof(float));
  check_or_throw(file.read(0, std::as_writable_bytes(std::span(values))));
  return values;
}

void expect_greedy(std::span<const std::uint32_t> got, std::span<const std::uint32_t> want,
                   std::span<const double> margins, double margin) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size() && margins[i] >= margin; ++i) {
    ASSERT_EQ(got[i], want[i]) << "at step " << i << ", whose margin is " << margins[i];
  }
}

double deviation(std::span<const float> values) {
  double mean = 0.0;
  for (const float v : values) mean += v;
  mean /= static_cast<double>(values.size());
  double sum = 0.0;
  for (const float v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double largest = a.size() == b.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
  }
  return largest;
}

}  // namespace ztvm::tests
