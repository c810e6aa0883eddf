// Hypotheses of one sentence in stacks by the number of words covered, recombined by state and pruned.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/errors.hh"
#include "base/hash.hh"

namespace hyperbaton {

inline constexpr std::uint32_t kNone = 0xffffffffU;

struct Hypothesis {
  double score;     // so far
  double estimate;  // with the future cost
  float future;     // future cost without distances
  std::uint32_t previous, option;
  std::uint32_t arcs;  // the first way that lost against this one
};

// Another way to the same state.
struct Arc {
  double score;  // at the hypothesis
  std::uint32_t previous, option;
  std::uint32_t next;
};

// Holds hypotheses and their states; places of pruned ones are used again.
class Chart {
 public:
  Chart(std::size_t state_size, bool keep_arcs)
      : stride_(state_size),
        keep_arcs_(keep_arcs),
        max_size_(std::min<std::size_t>(kNone, kMaxBytes / (sizeof(Hypothesis) + state_size * sizeof(std::uint32_t)))) {}

  std::uint32_t add(const Hypothesis& hypothesis, const std::uint32_t* state) {
    std::uint32_t id;
    if (free_.empty()) {
      if (hypotheses_.size() == max_size_) refuse();
      id = static_cast<std::uint32_t>(hypotheses_.size());
      hypotheses_.push_back(hypothesis);
      states_.insert(states_.end(), state, state + stride_);
    } else {
      id = free_.back();
      free_.pop_back();
      hypotheses_[id] = hypothesis;
      std::copy_n(state, stride_, states_.begin() + static_cast<std::ptrdiff_t>(id * stride_));
    }
    return id;
  }
  // A hypothesis with the same state: the better one stays, the other becomes an arc.
  void recombine(std::uint32_t id, Hypothesis other) {
    Hypothesis& present = hypotheses_[id];
    if (other.score > present.score) {
      other.arcs = present.arcs;
      std::swap(present, other);
    }
    if (keep_arcs_) {
      if (arcs_.size() == kMaxBytes / sizeof(Arc)) refuse();
      arcs_.push_back({other.score, other.previous, other.option, present.arcs});
      present.arcs = static_cast<std::uint32_t>(arcs_.size() - 1);
    }
  }
  void release(std::uint32_t id) { free_.push_back(id); }

  const Hypothesis& operator[](std::uint32_t id) const { return hypotheses_[id]; }
  const std::uint32_t* state(std::uint32_t id) const { return states_.data() + id * stride_; }
  const Arc& arc(std::uint32_t i) const { return arcs_[i]; }
  std::size_t stride() const { return stride_; }
  std::size_t size() const { return hypotheses_.size(); }

 private:
  // A search that keeps everything would take all memory there is.
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
  [[noreturn]] static void refuse() {
    throw Error(
        "the hypotheses of one sentence need more than 4 GiB: choose a smaller --stack (0 keeps all), --distortion-limit "
        "or "
        "--max-words");
  }

  std::size_t stride_;
  bool keep_arcs_;
  std::size_t max_size_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<std::uint32_t> states_;
  std::vector<std::uint32_t> free_;
  std::vector<Arc> arcs_;
};

struct Beam {
  std::size_t size;      // hypotheses of a stack; 0 means all
  double log_threshold;  // estimates this far below the best are dropped; -infinity keeps all
};

class Stack {
 public:
  // Whether a hypothesis with this estimate has no chance.
  bool hopeless(double estimate) const { return estimate < worst_; }

  void add(Chart& chart, const Beam& beam, const Hypothesis& hypothesis, const std::uint32_t* state) {
    if (hypothesis.estimate > best_) {
      best_ = hypothesis.estimate;
      worst_ = std::max(worst_, best_ + beam.log_threshold);
    }
    if (2 * (ids_.size() + 1) > slots_.size()) rehash(chart, std::max<std::size_t>(64, 2 * slots_.size()));
    const auto at = probe(chart, state);
    if (slots_[at] != kNone) {
      chart.recombine(slots_[at], hypothesis);
      return;
    }
    slots_[at] = chart.add(hypothesis, state);
    ids_.push_back(slots_[at]);
    if (beam.size > 0 && ids_.size() >= 2 * beam.size) prune(chart, beam);
  }

  // The hypotheses that survive, best estimate first; nothing may be added afterwards.
  std::span<const std::uint32_t> finish(Chart& chart, const Beam& beam) {
    prune(chart, beam);
    std::vector<std::uint32_t>().swap(slots_);
    return ids_;
  }
  std::span<const std::uint32_t> ids() const { return ids_; }

 private:
  void prune(Chart& chart, const Beam& beam) {
    // Equal estimates: the older one first, so that nothing is left to chance.
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      const double x = chart[a].estimate, y = chart[b].estimate;
      return x != y ? x > y : a < b;
    };
    std::ranges::sort(ids_, better);
    std::size_t keep = beam.size > 0 ? std::min(beam.size, ids_.size()) : ids_.size();
    while (keep > 1 && hopeless(chart[ids_[keep - 1]].estimate)) --keep;
    if (beam.size > 0 && keep == beam.size) worst_ = std::max(worst_, chart[ids_[keep - 1]].estimate);
    for (std::size_t i = keep; i < ids_.size(); ++i) chart.release(ids_[i]);
    ids_.resize(keep);
    if (!slots_.empty()) rehash(chart, slots_.size());
  }

  std::size_t probe(const Chart& chart, const std::uint32_t* state) const {
    const std::string_view key(reinterpret_cast<const char*>(state), chart.stride() * sizeof(std::uint32_t));
    std::size_t at = hash_bytes(key) & (slots_.size() - 1);
    while (slots_[at] != kNone && std::memcmp(chart.state(slots_[at]), state, key.size()) != 0)
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void rehash(const Chart& chart, std::size_t n) {
    slots_.assign(n, kNone);
    for (const auto id : ids_) slots_[probe(chart, chart.state(id))] = id;
  }

  std::vector<std::uint32_t> ids_;
  std::vector<std::uint32_t> slots_;  // by state; a power of two, at most half full
  double best_ = -std::numeric_limits<double>::infinity();
  double worst_ = -std::numeric_limits<double>::infinity();
};

}  // namespace hyperbaton
