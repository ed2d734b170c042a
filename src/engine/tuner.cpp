#include "engine/tuner.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "engine/rows.hpp"

namespace ztvm::engine {
namespace {

constexpr double k_budget_ms = 2000.0;  // after which no further shape is begun
constexpr double k_run_ms = 12.0;       // of a chain: long beside a browser's clock and the way of a read
constexpr std::size_t k_most_ops = 8;   // of a chain: their weights are more than a cache holds
constexpr std::uint32_t k_most_repeats = 256;
constexpr std::size_t k_rounds = 4;        // the first warms up
constexpr double k_hopeless = 1.5;         // times the best: not measured again
constexpr double k_clearly_faster = 0.93;  // less is noise: in a model, ops do not follow their own kind
constexpr std::uint32_t k_check_rows = 3;
constexpr double k_never = std::numeric_limits<double>::infinity();

std::vector<std::uint32_t> some_ids(std::uint32_t n, std::uint32_t vocab) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i) ids[i] = (3 + i * 7) % vocab;
  return ids;
}

}  // namespace

struct Tuner::Shape {
  std::string name;
  gpu::Recording chain;
  std::uint32_t n_rows = 1;
  std::size_t n_before = 0;  // ops of a body before the chain's first
};

struct Tuner::Candidate {
  std::string form;
  std::unique_ptr<gpu::Plan> plan;
  std::vector<gpu::Command> commands;  // of one chain
  double best_ms = k_never;            // of a run
  bool is_out = false;                 // hopeless, or wrong
};

// The first op of a chain in one form, beside its oracle.
struct Tuner::Check {
  std::size_t candidate = 0;
  gpu::LockstepReport report;
  std::unique_ptr<gpu::Executor> executor;
};

Tuner::Tuner(gpu::Device& device, const Model& model, Passes& passes, gpu::Tuning known,
             std::function<double()> now_ms)
    : device_(device),
      model_(model),
      passes_(passes),
      state_(model.decoder.state(model.buffers)),
      tuning_(std::move(known)),
      now_ms_(std::move(now_ms)),
      started_ms_(now_ms_()),
      pipelines_(device) {
  const model::Weights weights(model.weights, model.buffers);
  const model::DecoderOptions& options = model.decoder.options();
  const gpu::Recording one_row = model.decoder.record_body(weights, model.buffers, 1).recording;
  collect(one_row, 1, 0);
  collect(model.decoder.record_head(weights, model.buffers), 1, one_row.ops.size());
  // Long prompts first: time for measuring may run out.
  for (const std::uint32_t n_rows : std::views::reverse(recorded_rows(options.max_rows, options.target))) {
    if (n_rows > 1) collect(model.decoder.record_body(weights, model.buffers, n_rows).recording, n_rows, 0);
  }
}

Tuner::~Tuner() = default;

// `n_before`: ops of a body that run before the recording.
void Tuner::collect(const gpu::Recording& recording, std::uint32_t n_rows, std::size_t n_before) {
  for (std::size_t i = 0; i < recording.ops.size(); ++i) {
    const gpu::Op& op = recording.ops[i];
    if (op.forms.size() < 2 || tuning_.contains(op.shape)) continue;
    auto shape = std::ranges::find(shapes_, op.shape, &Shape::name);
    if (shape == shapes_.end()) {
      gpu::Recording chain = {.target = recording.target,
                              .limits = recording.limits,
                              .max_rows = recording.max_rows,
                              .ops = {},
                              .tuning = nullptr};
      shapes_.push_back(
          {.name = op.shape, .chain = std::move(chain), .n_rows = n_rows, .n_before = n_before + i});
      shape = std::prev(shapes_.end());
    }
    if (shape->chain.ops.size() < k_most_ops) shape->chain.ops.push_back(op);
  }
}

Result<bool> Tuner::step(bool wait) {
  const bool is_busy = device_.n_pending() > 0;
  if (auto polled = device_.poll(wait && is_busy); !polled) return forward(polled);
  if (!status_) return forward(status_);
  if (device_.n_pending() > 0) return false;
  if (check_) {
    if (auto ended = end_check(); !ended) return forward(ended);
    return false;
  }
  if (candidates_.empty()) {
    if (shape_ == shapes_.size() || now_ms_() - started_ms_ > k_budget_ms) return true;
    start_shape();
  } else if (is_measured()) {
    end_shape();
  } else {
    start_run();
  }
  return false;
}

void Tuner::start_shape() {
  const Shape& shape = shapes_[shape_];
  write_rows(device_, state_, {}, some_ids(shape.n_rows, model_.spec.vocab));
  for (const gpu::Form& form : shape.chain.ops.front().forms) {
    gpu::Recording chain = shape.chain;
    for (gpu::Op& op : chain.ops) gpu::take_form(op, form.name);
    Candidate candidate = {
        .form = form.name, .plan = std::make_unique<gpu::Plan>(device_, pipelines_, chain), .commands = {}};
    candidate.plan->append(candidate.commands, shape.n_rows, 0, candidate.plan->n_ops());
    candidates_.push_back(std::move(candidate));
  }
  run_ = 0;
  n_repeats_ = 1;
}

double Tuner::best_ms() const {
  double best = k_never;
  for (const Candidate& candidate : candidates_) best = std::min(best, candidate.best_ms);
  return best;
}

// Rounds follow while there is time; the one that warms up is followed by another in any case.
bool Tuner::is_measured() const {
  const std::size_t round = run_ / candidates_.size();
  if (run_ % candidates_.size() != 0 || round < 2) return false;
  return round == k_rounds || now_ms_() - started_ms_ > k_budget_ms;
}

void Tuner::start_run() {
  if (run_ == candidates_.size()) {
    n_repeats_ = static_cast<std::uint32_t>(std::clamp(k_run_ms / best_ms(), 1.0, 1.0 * k_most_repeats));
    for (Candidate& candidate : candidates_) {
      // The kernel's own choice stays: the others are compared with it.
      candidate.is_out = &candidate != &candidates_.front() && candidate.best_ms > 4.0 * best_ms();
    }
    for (Candidate& candidate : candidates_) candidate.best_ms = k_never;
  }
  Candidate& candidate = candidates_[run_++ % candidates_.size()];
  const bool is_hopeless = candidate.best_ms != k_never && candidate.best_ms > k_hopeless * best_ms();
  if (candidate.is_out || is_hopeless) return;
  std::vector<gpu::Command> commands;
  commands.reserve(candidate.commands.size() * n_repeats_);
  for (std::uint32_t i = 0; i < n_repeats_; ++i) {
    commands.insert(commands.end(), candidate.commands.begin(), candidate.commands.end());
  }
  const double begun_ms = now_ms_();
  device_.submit(commands);
  device_.read(state_.step.buffer, 0, sizeof(std::uint32_t),
               [this, begun_ms, &candidate](Result<Bytes> bytes) {
                 if (bytes) {
                   candidate.best_ms = std::min(candidate.best_ms, now_ms_() - begun_ms);
                 } else {
                   status_ = forward(bytes);
                 }
               });
}

void Tuner::end_shape() {
  const auto best = std::ranges::min_element(candidates_, {}, &Candidate::best_ms);
  const Candidate& own = candidates_.front();
  if (best->best_ms < k_clearly_faster * own.best_ms) {
    start_check(static_cast<std::size_t>(best - candidates_.begin()));
  } else {
    keep(own.form);
  }
}

void Tuner::keep(const std::string& form) {
  const Shape& shape = shapes_[shape_];
  gpu::TunedShape& tuned = tuning_[shape.name];
  tuned.form = form;
  tuned.own = candidates_.front().form;
  const double n_ops = static_cast<double>(n_repeats_) * static_cast<double>(shape.chain.ops.size());
  for (const Candidate& candidate : candidates_) {
    if (candidate.best_ms != k_never) tuned.times[candidate.form] = 1000.0 * candidate.best_ms / n_ops;
  }
  candidates_.clear();
  ++shape_;
}

// On what a short prompt leaves for the op: what is in the buffers now has been added up in many repeats.
void Tuner::start_check(std::size_t candidate) {
  const Shape& shape = shapes_[shape_];
  const std::uint32_t n_rows = std::min(shape.n_rows, k_check_rows);
  write_rows(device_, state_, {}, some_ids(n_rows, model_.spec.vocab));
  passes_.body_before(shape.n_rows, n_rows, shape.n_before);
  status_ = passes_.flush();
  check_ = std::make_unique<Check>(Check{.candidate = candidate, .report = {}, .executor = nullptr});
  check_->executor =
      gpu::make_async_lockstep_executor(device_, check_->report, std::numeric_limits<std::uint64_t>::max());
  gpu::Recording one = shape.chain;
  one.ops.erase(one.ops.begin() + 1, one.ops.end());
  gpu::take_form(one.ops.front(), candidates_[candidate].form);
  const gpu::RecordingId id = check_->executor->add(std::move(one));
  check_->executor->run(id, n_rows);
}

Result<void> Tuner::end_check() {
  const std::unique_ptr<Check> over = std::move(check_);
  if (auto flushed = over->executor->flush(); !flushed) return flushed;
  Candidate& candidate = candidates_[over->candidate];
  if (!over->report.first_mismatch) {
    keep(candidate.form);
    return {};
  }
  // This adapter computes it wrong: the next best is looked at.
  candidate.is_out = true;
  candidate.best_ms = k_never;
  tuning_[shapes_[shape_].name].wrong[candidate.form] = gpu::describe(*over->report.first_mismatch);
  return {};
}

}  // namespace ztvm::engine
