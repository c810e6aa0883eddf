#include "next_position/jump_objective.hh"

#include <algorithm>

namespace hyperbaton {

namespace {

constexpr std::size_t kMaxBlocks = 16;
constexpr std::size_t kMaxBufferBytes = std::size_t{1} << 30;
constexpr std::size_t kVectorBlock = std::size_t{1} << 16;

}  // namespace

JumpObjective::JumpObjective(const TaggedText& text, const VisitsView& visits, std::span<const std::uint64_t> keys,
                             const JumpObjectiveOptions& options, const Progress& progress)
    : text_(text),
      visits_(visits),
      features_(keys, text.tagged()),
      options_(options),
      n_parameters_((kJumpConstants + keys.size()) * options.planes) {
  if (options.planes != 1 && options.planes != 3) throw Error("a feature has one weight or three");
  check_jumps(text, visits);
  for (std::size_t s = 0; s < text.size(); ++s)
    if (visits.has_jumps(s)) {
      sentences_.push_back(static_cast<std::uint32_t>(s));
      n_jumps_ += static_cast<std::size_t>(visits.offsets[s + 1] - visits.offsets[s]) + 1;
    }
  if (sentences_.empty()) throw Error("there is nothing to learn from: no sentence pair has links");
  cut_blocks();
  if (!options.cached) return;
  parallel_blocks(blocks_.size(), 1, options.n_threads, progress, [&](std::size_t b, std::size_t) {
    Block& block = blocks_[b];
    PositionParts parts;
    for (std::size_t place = block.begin; place < block.end; ++place) {
      block.list_starts.push_back(block.lists.counts.size());
      block.id_starts.push_back(block.lists.ids.size());
      features_.append(text_, sentences_[place], parts, block.lists);
    }
    block.id_starts.push_back(block.lists.ids.size());
    block.lists.counts.shrink_to_fit();
    block.lists.ids.shrink_to_fit();
  });
}

// About the same number of jumps in each block; no more blocks than their gradients are worth.
void JumpObjective::cut_blocks() {
  const auto work = [&](std::size_t place) { return n_lists(text_.words[sentences_[place]].size()); };
  std::size_t total = 0;
  for (std::size_t place = 0; place < sentences_.size(); ++place) total += work(place);
  const std::size_t by_memory = kMaxBufferBytes / (n_parameters_ * sizeof(double) + 1), by_work = total / 2048;
  const std::size_t n_blocks =
      std::clamp<std::size_t>(std::min({by_memory, by_work, sentences_.size()}), 1, kMaxBlocks);
  std::size_t done = 0;
  for (std::size_t place = 0; place < sentences_.size(); ++place) {
    if (done >= total * blocks_.size() / n_blocks) {
      if (!blocks_.empty()) blocks_.back().end = place;
      blocks_.push_back({place, sentences_.size(), {}, {}, {}});
    }
    done += work(place);
  }
}

SentenceLists JumpObjective::lists_of(std::size_t place, Scratch& scratch) const {
  const std::size_t s = sentences_[place], n_words = text_.words[s].size();
  visits_.next_positions(s, static_cast<int>(n_words), scratch.next);
  if (!options_.cached) {
    scratch.lists.counts.clear();
    scratch.lists.ids.clear();
    features_.append(text_, s, scratch.parts, scratch.lists);
    return {n_words, scratch.lists.counts.data(), scratch.lists.ids.data(), scratch.lists.ids.size()};
  }
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), place,
                                      [](std::size_t at, const Block& block) { return at < block.begin; });
  const Block& block = *(after - 1);
  const std::size_t at = place - block.begin, first = block.id_starts[at];
  return {n_words, block.lists.counts.data() + block.list_starts[at], block.lists.ids.data() + first,
          block.id_starts[at + 1] - first};
}

JumpLists JumpObjective::all_lists() const {
  JumpLists all;
  Scratch scratch;
  for (std::size_t place = 0; place < sentences_.size(); ++place) {
    const SentenceLists one = lists_of(place, scratch);
    all.counts.insert(all.counts.end(), one.counts, one.counts + n_lists(one.n_words));
    all.ids.insert(all.ids.end(), one.ids, one.ids + one.n_ids);
  }
  return all;
}

template <std::size_t Planes>
double JumpObjective::pass(const Block& block, std::span<const double> weights, std::span<double> gradient) const {
  JumpScores<Planes> scores;
  Scratch scratch;
  double total = 0;
  for (std::size_t place = block.begin; place < block.end; ++place) {
    const SentenceLists lists = lists_of(place, scratch);
    scores.score(lists, weights.data(), scratch.next);
    total += scores.loss(scratch.next);
    scores.add_gradient(lists, gradient, scratch.next);
  }
  return total;
}

template <std::size_t Planes>
void JumpObjective::add_curvature(const Block& block, std::span<double> curvature) const {
  JumpScores<Planes> scores;
  Scratch scratch;
  for (std::size_t place = block.begin; place < block.end; ++place) {
    const SentenceLists lists = lists_of(place, scratch);
    scores.flat_curvature(lists, scratch.next);
    scores.add_gradient(lists, curvature, scratch.next);
  }
}

template <class Work>
void JumpObjective::sum_blocks(std::span<double> sum, const Progress& progress, const Work& work) const {
  std::fill(sum.begin(), sum.end(), 0.0);
  if (blocks_.size() == 1) return work(std::size_t{0}, sum);
  std::vector<std::vector<double>> parts(blocks_.size());
  parallel_blocks(blocks_.size(), 1, options_.n_threads, progress, [&](std::size_t b, std::size_t) {
    parts[b].assign(sum.size(), 0.0);
    work(b, std::span(parts[b]));
  });
  parallel_blocks(sum.size(), kVectorBlock, options_.n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (const auto& part : parts)
      for (std::size_t p = begin; p < end; ++p) sum[p] += part[p];
  });
}

double JumpObjective::operator()(std::span<const double> weights, std::span<double> gradient,
                                 const Progress& progress) const {
  std::vector<double> losses(blocks_.size());
  sum_blocks(gradient, progress, [&](std::size_t b, std::span<double> part) {
    losses[b] = options_.planes == 1 ? pass<1>(blocks_[b], weights, part) : pass<3>(blocks_[b], weights, part);
  });
  double total = 0;
  for (const double loss : losses) total += loss;
  return total;
}

std::vector<double> JumpObjective::curvature(const Progress& progress) const {
  constexpr double kTogether = 20;  // features of a jump that are in the space, about
  std::vector<double> result(n_parameters_);
  sum_blocks(result, progress, [&](std::size_t b, std::span<double> part) {
    options_.planes == 1 ? add_curvature<1>(blocks_[b], part) : add_curvature<3>(blocks_[b], part);
  });
  for (double& one : result) one *= kTogether;
  return result;
}

}  // namespace hyperbaton
