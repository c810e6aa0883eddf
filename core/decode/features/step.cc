#include "decode/features/step.hh"

namespace hyperbaton {

std::span<const float> StepFeature::ask(std::span<const BatchedStep> steps, const SharedState& shared, std::size_t at) {
  batch_.clear();
  for (const auto& step : steps) {
    const auto bits = static_cast<std::uint64_t>(step.before[at]) | static_cast<std::uint64_t>(step.before[at + 1]) << 32;
    const auto previous = shared.previous(step.before);
    batch_.states.push_back(static_cast<std::int64_t>(bits));
    batch_.coverage.insert(batch_.coverage.end(), step.before, step.before + shared.n_coverage());
    batch_.previous_begin.push_back(previous.begin);
    batch_.previous_end.push_back(previous.end);
    batch_.options.push_back(option_row(step.option));
  }
  scores_.resize(steps.size());
  states_.resize(steps.size());
  input_.scorer->score(batch_, scores_, states_);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].after) continue;
    const auto bits = static_cast<std::uint64_t>(states_[i]);
    steps[i].after[at] = static_cast<std::uint32_t>(bits);
    steps[i].after[at + 1] = static_cast<std::uint32_t>(bits >> 32);
  }
  return scores_;
}

}  // namespace hyperbaton
