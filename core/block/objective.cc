#include "block/objective.hh"

#include <cmath>

#include "base/math.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kMaxParts = 16;
constexpr std::size_t kMaxBufferBytes = std::size_t{1} << 30;

}  // namespace

// Probabilities of all candidates of a step. Questions about words have weights for single candidates, questions about
// tags for groups of candidates with the same tag.
class BlockObjective::Scores {
 public:
  Scores(const BlockObjective& objective, const Part& part) : objective_(objective), part_(part) {}

  // Call word(cell, term) for each feature of a candidate and tag(cell, term) for each of a group.
  template <class Word, class Tag>
  void each_term(const Word& word, const Tag& tag) const {
    const auto& index = objective_.index_;
    const auto cells = index.cells();
    const auto limit = static_cast<Cell>(n_ * kJumps);
    for (const auto question : part_.words(*step_)) {
      const auto terms = index[question];
      for (auto i = terms.first; i < terms.last && cells[i] < limit; ++i) word(cells[i], i);
      if (extra_)
        for (auto [i, last] = index.of_row(terms, step_->truth); i < last; ++i)
          word(limit + cells[i] % static_cast<Cell>(kJumps), i);
    }
    for (const auto question : part_.tags(*step_))
      for (std::size_t g = 0; g < n_groups(); ++g) {
        const auto shift = static_cast<Cell>(g - groups_[g]) * static_cast<Cell>(kJumps);
        for (auto [i, last] = index.of_tag(question, groups_[g]); i < last; ++i) tag(cells[i] + shift, i);
      }
  }

  // Fill p(t, j | s) of all candidates and groups of a step and return -log p of the true one. Weights are in the order
  // of terms.
  double fill(const Step& step, std::span<const double> weights) {
    visit(step);
    by_candidate_.assign(n_candidates() * kJumps, 0.0);
    by_group_.assign(n_groups() * kJumps, 0.0);
    each_term([&](Cell cell, std::size_t i) { by_candidate_[cell] += weights[i]; },
              [&](Cell cell, std::size_t i) { by_group_[cell] += weights[i]; });
    // The largest score of each table is subtracted, which changes only the sum.
    const double most = std::max(0.0, *std::ranges::max_element(by_candidate_));
    const double most_of_groups = *std::ranges::max_element(by_group_);
    for (double& score : by_group_) score = score == most_of_groups ? 1 : math::exp(score - most_of_groups);
    const double nothing = math::exp(-most);  // most (candidate, jump) cells have no feature
    const auto& table = objective_.lookup_.table();
    const auto first = objective_.lookup_.rows(step_->source).first;
    const double total = objective_.lookup_.total(step_->source);
    double sum = 0;
    for (std::size_t c = 0; c < n_candidates(); ++c) {
      const auto prior = objective_.prior_.row(table, first + place(c), total, step_->jumps,
                                               c == true_candidate() ? step_->jump : BlockPrior::kAllEvents);
      const double* group = by_group_.data() + group_of(c) * kJumps;
      double* row = by_candidate_.data() + c * kJumps;
      for (std::size_t j = 0; j < kJumps; ++j) {
        row[j] = prior[j] * group[j] * (row[j] == 0 ? nothing : math::exp(row[j] - most));
        sum += row[j];
      }
    }
    const double scale = 1 / sum;
    std::ranges::fill(by_group_, 0.0);
    for (std::size_t c = 0; c < n_candidates(); ++c) {
      double* row = by_candidate_.data() + c * kJumps;
      double* group = by_group_.data() + group_of(c) * kJumps;
      for (std::size_t j = 0; j < kJumps; ++j) group[j] += row[j] *= scale;
    }
    return -math::log(std::max(by_candidate_[true_candidate() * kJumps + step_->jump], 1e-300));
  }
  // Move to a step without filling anything.
  void visit(const Step& step) {
    step_ = &step;
    const auto source = step.source;
    n_ = objective_.lookup_.n_candidates(source, objective_.options_.max_targets);
    extra_ = step_->truth >= n_;
    const auto begin = objective_.tag_starts_[source], end = objective_.tag_starts_[source + 1];
    groups_.assign(objective_.tags_.begin() + static_cast<std::ptrdiff_t>(begin),
                   objective_.tags_.begin() + static_cast<std::ptrdiff_t>(end));
    if (extra_) {
      const auto& table = objective_.lookup_.table();
      const auto pair = objective_.lookup_.rows(source).first + step_->truth;
      groups_.push_back(tag_row(table.target_tags[table.targets[pair]]));
    }
  }

  std::size_t n_candidates() const { return n_ + extra_; }
  std::size_t n_groups() const { return groups_.size(); }
  std::size_t true_candidate() const { return extra_ ? n_ : step_->truth; }
  std::size_t group_of(std::size_t c) const {
    return c == n_ ? n_groups() - 1 : objective_.group_of_[objective_.lookup_.rows(step_->source).first + c];
  }
  double candidate(Cell cell) const { return by_candidate_[cell]; }
  double group(Cell cell) const { return by_group_[cell]; }

 private:
  std::uint32_t place(std::size_t c) const { return c == n_ ? step_->truth : static_cast<std::uint32_t>(c); }

  const BlockObjective& objective_;
  const Part& part_;
  const Step* step_ = nullptr;
  std::uint32_t n_ = 0;  // candidates, without the extra one
  bool extra_ = false;
  std::vector<std::uint32_t> groups_;
  std::vector<double> by_candidate_, by_group_;  // (candidates, 11), (groups, 11)
};

BlockObjective::BlockObjective(const BlockBitext& bitext, const BlockLookup& lookup, const BlockPrior& prior,
                               FamilySet families, const BlockFeaturesView& features, const BlockObjectiveOptions& options,
                               const Progress& progress)
    : lookup_(lookup), prior_(prior), options_(options), index_(lookup, features) {
  const auto& table = lookup.table();
  group_of_.resize(table.targets.size());
  tag_starts_.push_back(0);
  for (std::uint32_t p = 0; p + 1 < table.offsets.size(); ++p) {
    const auto first = lookup.rows(p).first, last = first + lookup.n_candidates(p, options.max_targets);
    const auto tag = [&](std::uint32_t pair) { return tag_row(table.target_tags[table.targets[pair]]); };
    for (auto pair = first; pair < last; ++pair) tags_.push_back(tag(pair));
    const auto own = tags_.begin() + static_cast<std::ptrdiff_t>(tag_starts_.back());
    std::sort(own, tags_.end());
    tags_.erase(std::unique(own, tags_.end()), tags_.end());
    for (auto pair = first; pair < last; ++pair)
      group_of_[pair] = static_cast<std::uint32_t>(std::lower_bound(own, tags_.end(), tag(pair)) - own);
    tag_starts_.push_back(tags_.size());
  }

  const std::size_t by_memory = kMaxBufferBytes / (n_parameters() * sizeof(double) + 1);
  const std::size_t by_work = bitext.source.words.tokens.size() / 2048;
  const std::size_t n_parts = std::clamp<std::size_t>(std::min(by_memory, by_work), 1, kMaxParts);
  for (std::size_t i = 0; i < n_parts; ++i)
    parts_.push_back(
        {.begin = bitext.size() * i / n_parts, .end = bitext.size() * (i + 1) / n_parts, .steps = {}, .questions = {}});
  parallel_chunks(n_parts, 1, options.n_threads, progress,
                  [&](std::size_t i, std::size_t) { fill(parts_[i], bitext, families); });
  for (const auto& part : parts_) n_steps_ += part.steps.size();

  std::vector<double> seen(n_parameters(), 0.0);
  for (const auto& part : parts_) {
    Scores scores(*this, part);
    for (const auto& step : part.steps) {
      scores.visit(step);
      const auto truth = scores.true_candidate(), group = scores.group_of(truth);
      const auto jump = step.jump;
      scores.each_term([&](Cell cell, std::size_t i) { seen[i] += cell == truth * kJumps + jump; },
                       [&](Cell cell, std::size_t i) { seen[i] += cell == group * kJumps + jump; });
    }
  }
  observed_.resize(n_parameters());
  by_feature(seen, observed_);
}

void BlockObjective::fill(Part& part, const BlockBitext& bitext, FamilySet families) const {
  StepReader reader(bitext, lookup_, families);
  for (std::size_t s = part.begin; s < part.end; ++s)
    reader.read(s, [&](std::span<const Question> questions, std::uint32_t source, std::span<const WordId> words,
                       std::size_t jump, SourceSpan span, std::uint32_t tag) {
      const auto pair = lookup_.pair(source, lookup_.target(words));
      Step step{.source = source,
                .truth = pair - lookup_.rows(source).first,
                .questions = part.questions.size(),
                .n_words = 0,
                .n_tags = 0,
                .jump = static_cast<std::uint8_t>(jump),
                .jumps = prior_.global(tag, span)};
      for (const bool tags : {false, true})
        for (const auto& question : questions)
          if (about_tags(question.ask) == tags)
            if (const auto number = index_.number(question); number != QuestionIndex::kNoQuestion) {
              part.questions.push_back(number);
              ++(tags ? step.n_tags : step.n_words);
            }
      part.steps.push_back(step);
    });
  std::ranges::stable_sort(part.steps, {}, &Step::source);
}

template <class Use>
double BlockObjective::pass(const Part& part, std::span<const double> weights, const Use& use) const {
  Scores scores(*this, part);
  double loss = 0;
  for (const auto& step : part.steps) {
    loss += scores.fill(step, weights);
    use(scores);
  }
  return loss;
}

std::vector<double> BlockObjective::by_term(std::span<const double> by_feature) const {
  std::vector<double> terms;
  terms.reserve(by_feature.size());
  for (const auto f : index_.features()) terms.push_back(by_feature[f]);
  return terms;
}

void BlockObjective::by_feature(std::span<const double> by_term, std::span<double> features) const {
  for (std::size_t i = 0; i < by_term.size(); ++i) features[index_.features()[i]] = by_term[i];
}

double BlockObjective::operator()(std::span<const double> weights, std::span<double> gradient,
                                  const Progress& progress) const {
  const auto own = by_term(weights);
  std::vector<double> expected(own.size());
  const double loss = sum_parts(parts(), expected, progress, [&](std::size_t p, std::span<double> sum, Poll&) {
    return pass(parts_[p], own, [&](const Scores& scores) {
      scores.each_term([&](Cell cell, std::size_t i) { sum[i] += scores.candidate(cell); },
                       [&](Cell cell, std::size_t i) { sum[i] += scores.group(cell); });
    });
  });
  by_feature(expected, gradient);
  for (std::size_t f = 0; f < gradient.size(); ++f) gradient[f] -= observed_[f];
  return loss;
}

namespace {

// The number of features of each candidate of a step with each jump.
template <class Scores>
void count_features(const Scores& scores, std::vector<std::uint32_t>& of_groups, std::vector<std::uint32_t>& counts) {
  of_groups.assign(scores.n_groups() * kJumps, 0);
  counts.assign(scores.n_candidates() * kJumps, 0);
  scores.each_term([&](Cell cell, std::size_t) { ++counts[cell]; }, [&](Cell cell, std::size_t) { ++of_groups[cell]; });
  for (std::size_t c = 0; c < scores.n_candidates(); ++c)
    for (std::size_t j = 0; j < kJumps; ++j) counts[c * kJumps + j] += of_groups[scores.group_of(c) * kJumps + j];
}

}  // namespace

std::size_t BlockObjective::most_features() const {
  std::uint32_t most = 0;
  std::vector<std::uint32_t> of_groups, counts;
  for (const auto& part : parts_) {
    Scores scores(*this, part);
    for (const auto& step : part.steps) {
      scores.visit(step);
      count_features(scores, of_groups, counts);
      most = std::max(most, *std::ranges::max_element(counts));
    }
  }
  return most;
}

double BlockObjective::expectations(std::span<const double> weights, std::size_t most, std::span<double> sums,
                                    const Progress& progress) const {
  const std::size_t width = most + 1;
  const auto own = by_term(weights);
  const auto features = index_.features();
  return sum_parts(parts(), sums, progress, [&](std::size_t p, std::span<double> sum, Poll&) {
    std::vector<std::uint32_t> of_groups, counts;
    return pass(parts_[p], own, [&](const Scores& scores) {
      count_features(scores, of_groups, counts);
      const auto add = [&](std::size_t i, Cell cell) { sum[features[i] * width + counts[cell]] += scores.candidate(cell); };
      scores.each_term([&](Cell cell, std::size_t i) { add(i, cell); },
                       [&](Cell cell, std::size_t i) {
                         for (std::size_t c = 0; c < scores.n_candidates(); ++c)
                           if (scores.group_of(c) == cell / kJumps) add(i, static_cast<Cell>(c * kJumps + cell % kJumps));
                       });
    });
  });
}

std::vector<double> BlockObjective::curvature(const Progress& progress) const {
  constexpr double kTogether = 5;  // approximate number of features of a (t, j)
  const std::vector<double> weights(n_parameters(), 0.0);
  std::vector<double> sum(n_parameters()), curvatures(n_parameters());
  sum_parts(parts(), sum, progress, [&](std::size_t p, std::span<double> own, Poll&) {
    const auto variance = [](double probability) { return kTogether * probability * (1 - probability); };
    return pass(parts_[p], weights, [&](const Scores& scores) {
      scores.each_term([&](Cell cell, std::size_t i) { own[i] += variance(scores.candidate(cell)); },
                       [&](Cell cell, std::size_t i) { own[i] += variance(scores.group(cell)); });
    });
  });
  by_feature(sum, curvatures);
  return curvatures;
}

}  // namespace hyperbaton
