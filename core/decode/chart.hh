// Hypotheses of one sentence, grouped in stacks by the number of covered words, recombined by state and pruned.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
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
  std::uint32_t arcs;  // the first path recombined into this one
};

// Another path to this state.
struct Arc {
  double score;  // at the hypothesis
  std::uint32_t previous, option;
  std::uint32_t next;
};

// Stores hypotheses and their states; slots of pruned hypotheses are reused. The address of a state is stable while its
// hypothesis exists.
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
      if (id % kBlock == 0) states_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(kBlock * stride_));
    } else {
      id = free_.back();
      free_.pop_back();
      hypotheses_[id] = hypothesis;
    }
    std::copy_n(state, stride_, states_[id / kBlock].get() + id % kBlock * stride_);
    return id;
  }
  // Recombine a hypothesis with an equal state: the better one stays, the other becomes an arc.
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
  const std::uint32_t* state(std::uint32_t id) const { return states_[id / kBlock].get() + id % kBlock * stride_; }
  const Arc& arc(std::uint32_t i) const { return arcs_[i]; }
  std::size_t stride() const { return stride_; }
  std::size_t size() const { return hypotheses_.size(); }

 private:
  // An unpruned search could use up all memory.
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
  [[noreturn]] static void refuse() {
    throw Error(
        "the hypotheses of one sentence need more than 4 GiB: choose a smaller --stack (0 keeps all), --distortion-limit "
        "or --max-words");
  }

  std::size_t stride_;
  bool keep_arcs_;
  std::size_t max_size_;
  std::vector<Hypothesis> hypotheses_;
  static constexpr std::size_t kBlock = 1024;             // number of states allocated together
  std::vector<std::unique_ptr<std::uint32_t[]>> states_;  // blocks of them
  std::vector<std::uint32_t> free_;
  std::vector<Arc> arcs_;
};

struct Beam {
  std::size_t size;      // largest number of hypotheses in a stack; 0 means no limit
  double log_threshold;  // estimates further than this below the best are dropped; -infinity keeps all
};

class Stack {
 public:
  // Whether a hypothesis with this estimate would be pruned.
  bool hopeless(double estimate) const { return estimate < worst_; }

  void add(Chart& chart, const Beam& beam, const Hypothesis& hypothesis, const std::uint32_t* state) {
    if (hypothesis.estimate > best_) {
      best_ = hypothesis.estimate;
      worst_ = std::max(worst_, best_ + beam.log_threshold);
    }
    if (2 * (ids_.size() + 1) > slots_.size()) grow(std::max<std::size_t>(64, 2 * slots_.size()));
    const auto hash = hash_numbers(state, chart.stride());
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].id != kNone; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].hash == hash && std::equal(state, state + chart.stride(), chart.state(slots_[at].id)))
        return chart.recombine(slots_[at].id, hypothesis);
    slots_[at] = {hash, chart.add(hypothesis, state)};
    ids_.push_back(slots_[at].id);
    if (beam.size > 0 && ids_.size() >= 2 * beam.size) prune(chart, beam);
  }

  // The surviving hypotheses, best estimate first; nothing may be added afterwards.
  std::span<const std::uint32_t> finish(Chart& chart, const Beam& beam) {
    prune(chart, beam);
    std::vector<Slot>().swap(slots_);
    std::vector<Ranked>().swap(ranked_);
    return ids_;
  }
  std::span<const std::uint32_t> ids() const { return ids_; }

 private:
  // The number of a hypothesis, kNone if there is none, and the hash of its state.
  struct Slot {
    std::uint32_t hash = 0, id = kNone;
  };
  struct Ranked {
    double estimate;
    Slot slot;
  };

  void prune(Chart& chart, const Beam& beam) {
    ranked_.clear();
    for (const auto& slot : slots_)
      if (slot.id != kNone) ranked_.push_back({chart[slot.id].estimate, slot});
    // Ties go to the older hypothesis, so that the order is deterministic.
    std::ranges::sort(ranked_, [](const Ranked& a, const Ranked& b) {
      return a.estimate != b.estimate ? a.estimate > b.estimate : a.slot.id < b.slot.id;
    });
    std::size_t keep = beam.size > 0 ? std::min(beam.size, ranked_.size()) : ranked_.size();
    while (keep > 1 && hopeless(ranked_[keep - 1].estimate)) --keep;
    if (beam.size > 0 && keep == beam.size) worst_ = std::max(worst_, ranked_[keep - 1].estimate);
    for (std::size_t i = keep; i < ranked_.size(); ++i) chart.release(ranked_[i].slot.id);
    ranked_.resize(keep);
    ids_.clear();
    std::ranges::fill(slots_, Slot{});
    for (const auto& each : ranked_) {
      ids_.push_back(each.slot.id);
      place(each.slot);
    }
  }

  void place(const Slot& slot) {
    std::size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].id != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
  void grow(std::size_t n) {
    std::vector<Slot> old(n);
    old.swap(slots_);
    for (const auto& slot : old)
      if (slot.id != kNone) place(slot);
  }

  std::vector<std::uint32_t> ids_;
  std::vector<Slot> slots_;  // by state; a power of two, at most half full
  std::vector<Ranked> ranked_;
  double best_ = -std::numeric_limits<double>::infinity();
  double worst_ = -std::numeric_limits<double>::infinity();
};

}  // namespace hyperbaton
