#include "block/objective.hh"

#include <cmath>

namespace hyperbaton {

namespace {

constexpr std::size_t kMaxParts = 16;
constexpr std::size_t kMaxBufferBytes = std::size_t{1} << 30;
constexpr std::size_t kVectorBlock = std::size_t{1} << 16;

}  // namespace

// Probabilities of all candidates of a step.
class BlockObjective::Scores {
 public:
  Scores(const BlockObjective& objective, const Part& part) : objective_(objective), part_(part) {}

  // Fills p(t, j | s) of all candidates; returns -log p of the true one.
  double fill(std::size_t s, std::span<const double> weights) {
    const Step& step = part_.steps[s];
    const auto& features = objective_.features_;
    const std::size_t n = step.last - step.first;
    p_.assign(n * kJumps, 0.0);
    double most = 0;
    for (std::size_t c = 0; c < n; ++c) {
      double* row = p_.data() + c * kJumps;
      each_feature(step.first + c, [&](std::size_t f) { row[features.jumps[f]] += weights[f]; });
      for (std::size_t j = 0; j < kJumps; ++j) most = std::max(most, row[j]);
    }
    // Most scores are zero.
    const double nothing = std::exp(-most);
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c) {
      const auto prior = objective_.prior_.row(objective_.table_, part_.pairs[step.first + c], part_.totals[s], step.jumps);
      double* row = p_.data() + c * kJumps;
      for (std::size_t j = 0; j < kJumps; ++j) {
        row[j] = prior[j] * (row[j] == 0 ? nothing : std::exp(row[j] - most));
        sum += row[j];
      }
    }
    const double scale = 1 / sum;
    for (double& p : p_) p *= scale;
    return -std::log(std::max(p_[(step.truth - step.first) * kJumps + step.jump], 1e-300));
  }

  const double* row(std::size_t candidate) const { return p_.data() + candidate * kJumps; }
  template <class Use>
  void each_feature(std::size_t candidate, const Use& use) const {
    const auto& features = objective_.features_;
    for (auto at = part_.starts[candidate]; at < part_.starts[candidate + 1]; ++at) {
      const auto key = part_.keys[at];
      for (auto f = features.starts[key]; f < features.starts[key + 1]; ++f) use(static_cast<std::size_t>(f));
    }
  }

 private:
  const BlockObjective& objective_;
  const Part& part_;
  std::vector<double> p_;
};

BlockObjective::BlockObjective(const BlockBitext& bitext, const BlockLookup& lookup, const BlockPrior& prior,
                               FamilySet families, const BlockFeaturesView& features, const BlockObjectiveOptions& options,
                               const Progress& progress)
    : table_(lookup.table()), prior_(prior), features_(features), options_(options) {
  const std::size_t by_memory = kMaxBufferBytes / (n_parameters() * sizeof(double) + 1);
  const std::size_t by_work = bitext.source.words.tokens.size() / 2048;
  const std::size_t n_parts = std::clamp<std::size_t>(std::min(by_memory, by_work), 1, kMaxParts);
  for (std::size_t i = 0; i < n_parts; ++i)
    parts_.push_back({bitext.size() * i / n_parts, bitext.size() * (i + 1) / n_parts, {}, {}, {}, {}, {}});
  parallel_blocks(n_parts, 1, options.n_threads, progress,
                  [&](std::size_t i, std::size_t) { fill(parts_[i], bitext, lookup, families); });
  observed_.assign(n_parameters(), 0.0);
  for (const auto& part : parts_) {
    n_steps_ += part.steps.size();
    const Scores scores(*this, part);
    std::array<std::size_t, kJumps> n{};
    for (const auto& step : part.steps)
      for (auto c = step.first; c < step.last; ++c) {
        n.fill(0);
        scores.each_feature(c, [&](std::size_t f) { ++n[features_.jumps[f]]; });
        most_features_ = std::max(most_features_, *std::ranges::max_element(n));
        if (c == step.truth)
          scores.each_feature(c, [&](std::size_t f) { observed_[f] += features_.jumps[f] == step.jump; });
      }
  }
}

void BlockObjective::fill(Part& part, const BlockBitext& bitext, const BlockLookup& lookup, FamilySet families) {
  const KeyIndex index(features_.keys);
  StepReader reader(bitext, lookup, families);
  part.starts.push_back(0);
  for (std::size_t s = part.begin; s < part.end; ++s)
    reader.read(s, [&](std::span<const Question> questions, std::uint32_t source, std::span<const WordId> words,
                       std::size_t jump, SourceSpan span, std::uint32_t tag) {
      const auto target = lookup.target(words);
      const auto rows = lookup.rows(source);
      const auto last =
          options_.max_targets == 0
              ? rows.last
              : std::min<std::uint32_t>(rows.last, rows.first + static_cast<std::uint32_t>(options_.max_targets));
      Step step{static_cast<std::uint32_t>(part.pairs.size()), 0, 0, static_cast<std::uint8_t>(jump),
                prior_.global(tag, span)};
      const auto truth = lookup.pair(source, target);
      const auto add = [&](std::uint32_t pair) {
        if (pair == truth) step.truth = static_cast<std::uint32_t>(part.pairs.size());
        part.pairs.push_back(pair);
        const auto own = table_.targets[pair];
        for (const auto& question : questions)
          if (const auto key = feature_key(question, own, table_.target_tags[own]); index.may_have(key))
            if (const auto found = index.find(key); found >= 0) part.keys.push_back(static_cast<std::uint32_t>(found));
        part.starts.push_back(part.keys.size());
      };
      for (auto pair = rows.first; pair < last; ++pair) add(pair);
      if (truth >= last) add(truth);
      step.last = static_cast<std::uint32_t>(part.pairs.size());
      part.steps.push_back(step);
      part.totals.push_back(lookup.total(source));
    });
}

// add(scores, step) after each step.
template <class Add>
double BlockObjective::pass(const Part& part, std::span<const double> weights, const Add& add) const {
  Scores scores(*this, part);
  double loss = 0;
  for (std::size_t s = 0; s < part.steps.size(); ++s) {
    loss += scores.fill(s, weights);
    add(scores, part.steps[s]);
  }
  return loss;
}

double BlockObjective::sum_parts(std::span<double> sum, const Progress& progress,
                                 const std::function<double(const Part&, std::span<double>)>& work) const {
  std::ranges::fill(sum, 0.0);
  if (parts_.size() == 1) return work(parts_[0], sum);
  std::vector<std::vector<double>> sums(parts_.size());
  std::vector<double> losses(parts_.size());
  parallel_blocks(parts_.size(), 1, options_.n_threads, progress, [&](std::size_t i, std::size_t) {
    sums[i].assign(sum.size(), 0.0);
    losses[i] = work(parts_[i], sums[i]);
  });
  parallel_blocks(sum.size(), kVectorBlock, options_.n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (const auto& part : sums)
      for (std::size_t p = begin; p < end; ++p) sum[p] += part[p];
  });
  double loss = 0;
  for (const double one : losses) loss += one;
  return loss;
}

double BlockObjective::operator()(std::span<const double> weights, std::span<double> gradient,
                                  const Progress& progress) const {
  const double loss = sum_parts(gradient, progress, [&](const Part& part, std::span<double> sum) {
    return pass(part, weights, [&](const Scores& scores, const Step& step) {
      for (auto c = step.first; c < step.last; ++c) {
        const double* row = scores.row(c - step.first);
        scores.each_feature(c, [&](std::size_t f) { sum[f] += row[features_.jumps[f]]; });
      }
    });
  });
  for (std::size_t f = 0; f < gradient.size(); ++f) gradient[f] -= observed_[f];
  return loss;
}

double BlockObjective::expectations(std::span<const double> weights, std::span<double> sums,
                                    const Progress& progress) const {
  const std::size_t width = most_features_ + 1;
  return sum_parts(sums, progress, [&](const Part& part, std::span<double> sum) {
    return pass(part, weights, [&](const Scores& scores, const Step& step) {
      std::array<std::size_t, kJumps> n{};
      for (auto c = step.first; c < step.last; ++c) {
        n.fill(0);
        scores.each_feature(c, [&](std::size_t f) { ++n[features_.jumps[f]]; });
        const double* row = scores.row(c - step.first);
        scores.each_feature(c, [&](std::size_t f) { sum[f * width + n[features_.jumps[f]]] += row[features_.jumps[f]]; });
      }
    });
  });
}

std::vector<double> BlockObjective::curvature(const Progress& progress) const {
  constexpr double kTogether = 5;  // features of a (t, j) that are in the space, about
  const std::vector<double> weights(n_parameters(), 0.0);
  std::vector<double> sum(n_parameters());
  sum_parts(sum, progress, [&](const Part& part, std::span<double> own) {
    return pass(part, weights, [&](const Scores& scores, const Step& step) {
      for (auto c = step.first; c < step.last; ++c) {
        const double* row = scores.row(c - step.first);
        scores.each_feature(c, [&](std::size_t f) {
          const double p = row[features_.jumps[f]];
          own[f] += kTogether * p * (1 - p);
        });
      }
    });
  });
  return sum;
}

}  // namespace hyperbaton
