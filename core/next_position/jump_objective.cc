#include "next_position/jump_objective.hh"

#include <algorithm>
#include <utility>

#include "base/columns.hh"
#include "base/size.hh"
#include "features/packed_ids.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kMaxBufferBytes = std::size_t{1} << 30;

}  // namespace

JumpObjective::JumpObjective(const TaggedText& text, const VisitsView& visits, std::span<const std::uint64_t> keys,
                             const JumpObjectiveOptions& options)
    : text_(text),
      visits_(visits),
      features_(keys, text.tagged()),
      options_(options),
      n_features_(kJumpConstants + keys.size()),
      n_parameters_((n_features_ + (options.coverage ? kCandidateClasses : 0)) * options.planes) {
  find_sentences();
  cut_chunks();
}

JumpObjective::JumpObjective(const TaggedText& text, const VisitsView& visits, const KeptLists& lists,
                             const JumpObjectiveOptions& options)
    : text_(text),
      visits_(visits),
      features_({}, text.tagged()),
      options_(options),
      n_features_(lists.order.size() - (options.coverage ? kCandidateClasses : 0)),
      n_parameters_(lists.order.size() * options.planes),
      kept_(lists),
      order_(lists.order.begin(), lists.order.end()) {
  find_sentences();
  cut_chunks();
  if (lists.starts.size() != sentences_.size() + 1 || lists.n_ids.size() != sentences_.size())
    throw Error("the lists belong to different sentences");
  std::size_t at = 0;
  for (const std::uint32_t s : sentences_) {
    list_starts_.push_back(at);
    at += n_lists(text_.words[s].size());
  }
  const std::size_t size = lists.packed.empty() ? lists.ids.size() : lists.packed.size();
  if (at != lists.counts.size() || to_size(lists.starts.back()) != size)
    throw Error("the lists belong to different sentences");
}

namespace {

// The lists of the sentences of [begin, end) that have jumps, in parts, to be joined.
std::vector<FeatureLists> lists_of_parts(const TaggedText& text, const VisitsView& visits, const JumpFeatures& features,
                                         FeatureNumbers* numbers, std::size_t begin, std::size_t end, unsigned n_threads,
                                         const Progress& progress) {
  constexpr std::size_t chunk = 64;
  std::vector<FeatureLists> parts((end - begin + chunk - 1) / chunk);
  parallel_chunks(end - begin, chunk, n_threads, progress, [&](std::size_t first, std::size_t last) {
    FeatureLists& part = parts[first / chunk];
    PositionParts scratch;
    for (std::size_t s = begin + first; s < begin + last; ++s) {
      if (!visits.has_jumps(s)) continue;
      const std::size_t before = part.ids.size();
      features.append(text, s, scratch, part);
      part.n_ids.push_back(static_cast<std::int64_t>(part.ids.size() - before));
    }
  });
  if (numbers != nullptr)
    for (FeatureLists& part : parts) numbers->renumber(part.ids);
  return parts;
}

}  // namespace

FeatureLists feature_lists(const TaggedText& text, const VisitsView& visits, const JumpFeatures& features,
                           FeatureNumbers* numbers, std::size_t begin, std::size_t end, unsigned n_threads,
                           const Progress& progress) {
  auto parts = lists_of_parts(text, visits, features, numbers, begin, end, n_threads, progress);
  FeatureLists all;
  join_columns<&FeatureLists::counts, &FeatureLists::ids, &FeatureLists::n_ids>(all, parts);
  return all;
}

PackedLists packed_feature_lists(const TaggedText& text, const VisitsView& visits, const JumpFeatures& features,
                                 FeatureNumbers& numbers, std::size_t begin, std::size_t end, unsigned n_threads,
                                 const Progress& progress) {
  auto lists = lists_of_parts(text, visits, features, &numbers, begin, end, n_threads, progress);
  std::vector<PackedLists> parts(lists.size());
  parallel_chunks(lists.size(), 1, n_threads, {}, [&](std::size_t p, std::size_t) {
    std::span<const std::uint32_t> ids = lists[p].ids;
    for (const std::int64_t n : lists[p].n_ids) {
      const std::size_t before = parts[p].packed.size();
      pack_ids(ids.first(to_size(n)), parts[p].packed);
      ids = ids.subspan(to_size(n));
      parts[p].n_bytes.push_back(static_cast<std::int64_t>(parts[p].packed.size() - before));
    }
    parts[p].counts = std::move(lists[p].counts);
    parts[p].n_ids = std::move(lists[p].n_ids);
    std::vector<std::uint32_t>().swap(lists[p].ids);
  });
  PackedLists all;
  join_columns<&PackedLists::counts, &PackedLists::packed, &PackedLists::n_bytes, &PackedLists::n_ids>(all, parts);
  return all;
}

void JumpObjective::find_sentences() {
  if (options_.planes != 1 && options_.planes != 3) throw Error("a feature must have one weight or three");
  if (options_.coverage && !options_.remaining)
    throw Error("classes of candidates need normalisation over the remaining words");
  check_jumps(text_, visits_);
  for (std::size_t s = 0; s < text_.size(); ++s)
    if (visits_.has_jumps(s)) sentences_.push_back(static_cast<std::uint32_t>(s));
  if (sentences_.empty()) throw Error("there is nothing to learn from: no sentence pair has links");
}

std::vector<double> JumpObjective::in_our_order(std::span<const double> inner) const {
  std::vector<double> ours(inner.begin(), inner.end());
  const std::size_t planes = options_.planes;
  for (std::size_t f = 0; f < order_.size(); ++f)
    for (std::size_t p = 0; p < planes; ++p) ours[planes * order_[f] + p] = inner[planes * f + p];
  return ours;
}

std::vector<double> JumpObjective::in_inner_order(std::span<const double> ours) const {
  std::vector<double> inner(ours.begin(), ours.end());
  const std::size_t planes = options_.planes;
  for (std::size_t f = 0; f < order_.size(); ++f)
    for (std::size_t p = 0; p < planes; ++p) inner[planes * f + p] = ours[planes * order_[f] + p];
  return inner;
}

// About the same number of jumps in each chunk, and no more chunks than are worth a separate gradient.
void JumpObjective::cut_chunks() {
  const auto work = [&](std::size_t place) { return n_lists(text_.words[sentences_[place]].size()); };
  std::size_t total = 0;
  for (std::size_t place = 0; place < sentences_.size(); ++place) total += work(place);
  const std::size_t by_memory = kMaxBufferBytes / (n_parameters_ * sizeof(double) + 1), by_work = total / 2048;
  const std::size_t n_chunks =
      std::clamp<std::size_t>(std::min({by_memory, by_work, sentences_.size()}), 1, kMaxJumpChunks);
  std::size_t done = 0;
  for (std::size_t place = 0; place < sentences_.size(); ++place) {
    if (done >= total * chunks_.size() / n_chunks) {
      if (!chunks_.empty()) chunks_.back().end = place;
      chunks_.push_back({place, sentences_.size()});
    }
    done += work(place);
  }
}

SentenceLists JumpObjective::lists_of(std::size_t place, Scratch& scratch) const {
  const std::size_t s = sentences_[place], n_words = text_.words[s].size();
  visits_.next_positions(s, static_cast<int>(n_words), scratch.next);
  if (!kept_) {
    scratch.lists.counts.clear();
    scratch.lists.ids.clear();
    features_.append(text_, s, scratch.parts, scratch.lists);
    return {n_words, scratch.lists.counts.data(), scratch.lists.ids.data(), scratch.lists.ids.size()};
  }
  const std::uint8_t* const counts = &kept_->counts[list_starts_[place]];
  const std::size_t start = to_size(kept_->starts[place]), n_ids = to_size(kept_->n_ids[place]);
  if (kept_->packed.empty()) return {n_words, counts, kept_->ids.data() + start, n_ids};
  auto& ids = scratch.lists.ids;
  if (ids.size() < n_ids) ids.resize(n_ids);  // not less than before, since growing fills with zeros
  unpack_ids(&kept_->packed[start], std::span(ids).first(n_ids));
  return {n_words, counts, ids.data(), n_ids};
}

template <std::size_t Planes>
double JumpObjective::pass(const Chunk& chunk, std::span<const double> weights, std::span<double> gradient,
                           Poll& poll) const {
  using Scores = JumpScores<Planes>;
  Scores scores(candidates());
  const typename Scores::Weights weights_of{weights.data()};
  const typename Scores::Gradient gradient_of{gradient.data()};
  Scratch scratch;
  double total = 0;
  for (std::size_t place = chunk.begin; place < chunk.end; ++place) {
    const SentenceLists lists = lists_of(place, scratch);
    scores.score(lists, weights_of, scratch.next);
    total += scores.loss(scratch.next, weights_of);
    scores.add_gradient(lists, gradient_of, scratch.next);
    poll();
  }
  return total;
}

template <std::size_t Planes>
double JumpObjective::add_curvature(const Chunk& chunk, std::span<double> curvature, Poll& poll) const {
  JumpScores<Planes> scores(candidates());
  Scratch scratch;
  for (std::size_t place = chunk.begin; place < chunk.end; ++place) {
    const SentenceLists lists = lists_of(place, scratch);
    scores.flat_curvature(lists, scratch.next);
    scores.add_gradient(lists, typename JumpScores<Planes>::Gradient{curvature.data()}, scratch.next);
    poll();
  }
  return 0;
}

double JumpObjective::operator()(std::span<const double> weights, std::span<double> gradient,
                                 const Progress& progress) const {
  const std::vector<double> inner = in_inner_order(weights);
  const double loss = sum_parts(parts(), gradient, progress, [&](std::size_t b, std::span<double> part, Poll& poll) {
    return options_.planes == 1 ? pass<1>(chunks_[b], inner, part, poll) : pass<3>(chunks_[b], inner, part, poll);
  });
  std::ranges::copy(in_our_order(gradient), gradient.begin());
  return loss;
}

std::vector<double> JumpObjective::curvature(const Progress& progress) const {
  constexpr double kTogether = 20;  // approximate number of features of a jump
  std::vector<double> result(n_parameters_);
  sum_parts(parts(), result, progress, [&](std::size_t b, std::span<double> part, Poll& poll) {
    return options_.planes == 1 ? add_curvature<1>(chunks_[b], part, poll) : add_curvature<3>(chunks_[b], part, poll);
  });
  for (double& one : result) one *= kTogether;
  return in_our_order(result);
}

}  // namespace hyperbaton
