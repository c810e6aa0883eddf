#include "features/training_features.hh"

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/size.hh"
#include "features/keys.hh"
#include "features/text_numbers.hh"

namespace hyperbaton {

namespace {

// Templates of one kind can share features.
enum class Kind { Gram, Link, Count };

Kind kind_of(Region region) {
  return region == Region::Links ? Kind::Link : region >= Region::NumberBefore ? Kind::Count : Kind::Gram;
}

}  // namespace

// The slots of an occurrence.
class TrainingFeatures::Slots {
 public:
  // Consecutive slots: the n-grams of one length of a name, its links, or its numbers of words.
  struct Family {
    std::size_t begin, size;
    std::int32_t name;
    Kind kind;
    std::size_t layer, length;
  };
  // Templates that differ only in the length of their n-gram.
  struct Place {
    Region region;
    std::size_t layer;
    int offset;
    std::vector<std::pair<int, std::uint32_t>> grams;  // length, increasing, and first slot; a limit for numbers of words
  };

  Slots(std::span<const Template> templates, const Occurrences& where, unsigned n_threads, const Room& room)
      : where_(where) {
    std::vector<std::size_t> longest(where.layers.size(), 0);
    std::map<std::int32_t, std::vector<Template>> by_name;
    for (const Template& t : templates) {
      by_name[t.name].push_back(t);
      const Template& first = by_name[t.name].front();
      if (std::tuple(kind_of(t.region), t.layer, t.linked_layer) !=
          std::tuple(kind_of(first.region), first.layer, first.linked_layer))
        throw Error("templates of one name must be of one kind and one layer");
      if (kind_of(t.region) == Kind::Gram) {
        std::size_t& most = longest[to_size(t.layer)];
        most = std::max(most, to_size(t.length));
      } else if (kind_of(t.region) == Kind::Link && !links_) {
        links_ = std::make_unique<LinkNumbers>(where, where.layers[to_size(t.layer)].text,
                                               where.layers[to_size(t.linked_layer)].text, room);
      }
    }
    grams_.resize(where.layers.size());
    parallel_chunks(grams_.size(), 1, n_threads, {}, [&](std::size_t l, std::size_t) {
      grams_[l] = std::make_unique<GramNumbers>(where.layers[l].text, longest[l], room);
    });
    for (auto& [name, own] : by_name) add_name(name, own);
    if (n_slots_ >= kNoNumber) throw Error("more features than can be numbered: use fewer templates or less text");
  }

  std::size_t size() const { return n_slots_; }
  std::size_t n_names() const { return names_.size(); }
  const std::vector<Family>& families() const { return families_; }

  // Words of a slot of a family: up to kMaxWords; a number of words represents itself.
  std::span<const WordId> words(const Family& family, std::uint32_t number, WordId& room) const {
    if (family.kind == Kind::Gram) return grams_[family.layer]->words(family.length, number);
    if (family.kind == Kind::Link) return links_->words(number);
    room = number;
    return {&room, 1};
  }

  // Prefetch the memory that an occurrence needs.
  void prefetch_spans(std::size_t i) const {
    for (const SpansView* spans : {&where_.source, &where_.target}) {
      __builtin_prefetch(&spans->sentence[i]);
      __builtin_prefetch(&spans->begin[i]);
      __builtin_prefetch(&spans->length[i]);
    }
  }
  void prefetch_grams(std::size_t i) const {
    for (std::size_t l = 0; l < where_.layers.size(); ++l) {
      const Layer& layer = where_.layers[l];
      const SpansView& spans = layer.of_target ? where_.target : where_.source;
      const auto begin = to_size(layer.text.offsets[spans.sentence[i]]) + spans.begin[i];
      __builtin_prefetch(grams_[l]->at(begin));
      __builtin_prefetch(grams_[l]->at(begin + spans.length[i]));
    }
  }

  // Count the occurrences that have each slot of a name.
  void count(std::size_t name, LargeArray<std::uint32_t>& counts, Poll& poll) const {
    if (names_[name].repeats || kind_of(names_[name].places.front().region) != Kind::Gram)
      return count_by_occurrence(names_[name], counts, poll);
    for (const Place& place : names_[name].places) count_by_position(place, counts, poll);
  }
  // Call on_slot(slot) for each feature of occurrence i.
  template <class OnSlot>
  void of_all(std::size_t i, const OnSlot& on_slot) const {
    for (const Name& name : names_)
      for (const Place& place : name.places) at_place(place, i, on_slot);
  }

 private:
  struct Name {
    std::vector<Place> places;
    bool repeats;
  };

  void add_name(std::int32_t name, const std::vector<Template>& templates) {
    std::map<std::tuple<Region, int>, std::map<int, std::uint32_t>> places;
    std::map<std::size_t, std::uint32_t> begins;  // by length
    const auto layer = to_size(templates.front().layer);
    const Kind kind = kind_of(templates.front().region);
    std::size_t longest = 0;
    if (kind == Kind::Count) {
      const auto& offsets = where_.layers[layer].text.offsets;
      for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
        longest = std::max(longest, to_size(offsets[s + 1] - offsets[s]));
    }
    for (const Template& t : templates) {
      // All numbers of words form one family, all links another.
      const std::size_t length = kind == Kind::Gram ? to_size(t.length) : kind == Kind::Link ? 2 : 1;
      if (!begins.contains(length)) {
        begins[length] = static_cast<std::uint32_t>(n_slots_);
        const std::size_t size = kind == Kind::Gram   ? grams_[layer]->n_grams(length)
                                 : kind == Kind::Link ? links_->size()
                                                      : longest + 1;
        families_.push_back({n_slots_, size, name, kind, layer, length});
        n_slots_ += size;
      }
      places[{t.region, t.offset}][t.length] = begins[length];
    }
    Name made{{}, hyperbaton::may_repeat(templates)};
    for (const auto& [place, grams] : places)
      made.places.push_back({std::get<0>(place), layer, std::get<1>(place), {grams.begin(), grams.end()}});
    names_.push_back(std::move(made));
  }

  void count_by_occurrence(const Name& name, LargeArray<std::uint32_t>& counts, Poll& poll) const {
    std::vector<std::uint32_t> own;
    for (std::size_t i = 0; i < where_.size(); ++i) {
      poll();
      own.clear();
      for (const Place& place : name.places) at_place(place, i, [&](std::uint32_t slot) { own.push_back(slot); });
      if (name.repeats) {
        std::sort(own.begin(), own.end());
        own.erase(std::unique(own.begin(), own.end()), own.end());
      }
      for (const std::uint32_t slot : own) ++counts[slot];
    }
  }

  // Count the occurrences for a place of n-grams. Its words depend on where a phrase begins or, after the phrase, where
  // it ends; inside the phrase, their number depends on its length. The phrases of a sentence, which are consecutive, are
  // first grouped by these values, since there are several times as many phrases as words.
  void count_by_position(const Place& place, LargeArray<std::uint32_t>& counts, Poll& poll) const {
    const Layer& layer = where_.layers[place.layer];
    const SpansView& spans = layer.of_target ? where_.target : where_.source;
    const bool inside = place.region == Region::Inside, after = place.region == Region::After;
    if (place.offset < (after ? 1 : 0) && place.region != Region::Before) return;
    const int longest = inside ? place.offset + place.grams.back().first : 0;
    const auto width = to_size(longest) + 1;
    std::vector<std::uint32_t> phrases;  // by edge and length, where `longest` includes all longer ones
    for (std::size_t i = 0; i < spans.size();) {
      poll();
      const std::uint32_t sentence = spans.sentence[i];
      const std::int64_t start = layer.text.offsets[sentence];
      const int n_words = static_cast<int>(layer.text.offsets[sentence + 1] - start);
      phrases.assign((to_size(n_words) + 1) * width, 0);
      for (; i < spans.size() && spans.sentence[i] == sentence; ++i) {
        const int edge = spans.begin[i] + (after ? spans.length[i] : 0);
        ++phrases[to_size(edge) * width + to_size(std::min<int>(spans.length[i], longest))];
      }
      for (int edge = 0; edge <= n_words; ++edge) {
        std::uint32_t* at_least = &phrases[to_size(edge) * width];  // by length
        for (int length = longest; length > 0; --length) at_least[length - 1] += at_least[length];
        const int from = edge + place.offset - (after ? 1 : 0), to = place.region == Region::Before ? edge : n_words;
        if (at_least[0] == 0 || from < 0) continue;
        const std::uint32_t* numbers = grams_[place.layer]->at(to_size(start + from));
        for (const auto& [length, first] : place.grams) {
          const std::uint32_t n = at_least[inside ? place.offset + length : 0];
          if (from + length > to || n == 0) break;
          counts[first + numbers[length - 1]] += n;
        }
      }
    }
  }

  template <class OnSlot>
  void at_place(const Place& place, std::size_t i, const OnSlot& on_slot) const {
    const Layer& layer = where_.layers[place.layer];
    const SpansView& spans = layer.of_target ? where_.target : where_.source;
    const std::size_t sentence = spans.sentence[i];
    const int begin = spans.begin[i], end = begin + spans.length[i];
    const std::int64_t start = layer.text.offsets[sentence];
    const int n_words = static_cast<int>(layer.text.offsets[sentence + 1] - start);
    int from, to;  // the n-gram's first word, and the end of the region
    switch (place.region) {
      case Region::Before:
        from = begin + place.offset, to = begin;
        if (from < 0) return;
        break;
      case Region::Inside:
        from = begin + place.offset, to = end;
        if (from < begin) return;
        break;
      case Region::After:
        from = end - 1 + place.offset, to = n_words;
        if (from < end) return;
        break;
      case Region::Links:
        return at_links(i, place.grams.front().second, on_slot);
      default: {
        const int n = place.region == Region::NumberBefore   ? begin
                      : place.region == Region::NumberInside ? end - begin
                                                             : n_words - end;
        for (const auto& [limit, first] : place.grams) on_slot(first + static_cast<std::uint32_t>(std::min(n, limit)));
        return;
      }
    }
    const std::uint32_t* numbers = grams_[place.layer]->at(to_size(start + from));
    for (const auto& [length, first] : place.grams) {
      if (from + length > to) return;
      on_slot(first + numbers[length - 1]);
    }
  }

  template <class OnSlot>
  void at_links(std::size_t i, std::uint32_t first, const OnSlot& on_slot) const {
    const int begin = where_.source.begin[i], end = begin + where_.source.length[i];
    const int target_begin = where_.target.begin[i], target_end = target_begin + where_.target.length[i];
    const auto points = where_.links[where_.target.sentence[i]];
    auto point = std::lower_bound(points.begin(), points.end(), begin, [](const Link& a, int b) { return a.source < b; });
    for (; point != points.end() && point->source < end; ++point)
      if (point->target >= target_begin && point->target < target_end)
        on_slot(first + links_->at(to_size(&*point - where_.links.points.data())));
  }

  const Occurrences& where_;
  std::vector<std::unique_ptr<GramNumbers>> grams_;  // by layer
  std::unique_ptr<LinkNumbers> links_;
  std::vector<Name> names_;
  std::vector<Family> families_;
  std::size_t n_slots_ = 0;
};

namespace {

// A slot with its key.
struct Entry {
  std::uint64_t key;
  std::uint32_t slot, family;
};

// Sort by keys, which are evenly distributed: into as many buckets as there are entries, then within each.
void sort_by_key(LargeArray<Entry>& entries, const Room& room) {
  if (entries.size() < 2) return;
  const unsigned shift = 64 - static_cast<unsigned>(std::bit_width(entries.size() - 1));
  LargeArray<std::uint32_t> next((std::size_t{1} << (64 - shift)) + 1, room);
  std::fill(next.begin(), next.end(), 0u);
  for (const Entry& e : entries) ++next[static_cast<std::size_t>(e.key >> shift)];
  exclusive_sum(next);
  LargeArray<Entry> sorted(entries.size(), room);
  for (const Entry& e : entries) sorted[next[static_cast<std::size_t>(e.key >> shift)]++] = e;
  const auto before = [](const Entry& a, const Entry& b) { return std::pair(a.key, a.slot) < std::pair(b.key, b.slot); };
  std::size_t begin = 0;
  for (std::size_t bucket = 0; bucket + 1 < next.size(); begin = next[bucket++])
    if (next[bucket] - begin > 1) std::sort(sorted.begin() + begin, sorted.begin() + next[bucket], before);
  entries = std::move(sorted);
}

// Sort a few distinct numbers. A number's position is the count of smaller ones: this needs no data-dependent branch and
// is vectorised.
template <class Iterator>
void sort_distinct(Iterator begin, Iterator end) {
  constexpr std::size_t most = 40;
  const auto n = to_size(end - begin);
  if (n > most) return std::sort(begin, end);
  std::array<std::int32_t, most> numbers, places{};
  std::copy(begin, end, numbers.begin());
  std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(n), numbers.end(), 0);
  const std::size_t padded = (n + 7) / 8 * 8;
  for (std::size_t j = 0; j < n; ++j) {
    const std::int32_t number = numbers[j];
    for (std::size_t i = 0; i < padded; ++i) places[i] += number < numbers[i];
  }
  for (std::size_t i = 0; i < n; ++i) begin[places[i]] = numbers[i];
}

}  // namespace

TrainingFeatures::TrainingFeatures(std::span<const Template> templates, const Occurrences& where, std::uint32_t min_count,
                                   unsigned n_threads, const Progress& progress, const Room& room)

    : slots_(std::make_unique<Slots>(templates, where, n_threads, room)),
      n_occurrences_(where.size()),
      repeats_(may_repeat(templates)) {
  // The slots of a name are counted by one thread.
  LargeArray<std::uint32_t> counts(slots_->size(), room);
  std::fill(counts.begin(), counts.end(), 0u);
  parallel_chunks(slots_->n_names(), 1, n_threads, progress,
                  [&](std::size_t name, std::size_t, Poll& poll) { slots_->count(name, counts, poll); });
  const auto& families = slots_->families();
  // An n-gram may be in a place that no phrase pair looks at.
  const auto is_kept = [&](std::uint32_t count) { return count > 0 && count >= min_count; };
  LargeArray<Entry> kept(to_size(std::count_if(counts.begin(), counts.end(), is_kept)), room);
  std::size_t n_kept = 0;
  WordId number_of_words;
  for (std::size_t f = 0; f < families.size(); ++f)
    for (std::size_t j = 0; j < families[f].size; ++j) {
      const std::size_t slot = families[f].begin + j;
      if (!is_kept(counts[slot])) continue;
      const auto words = slots_->words(families[f], static_cast<std::uint32_t>(j), number_of_words);
      kept[n_kept++] = {feature_key(families[f].name, words), static_cast<std::uint32_t>(slot),
                        static_cast<std::uint32_t>(f)};
    }
  counts = {};
  sort_by_key(kept, room);
  numbers_ = LargeArray<std::int32_t>(slots_->size(), room);
  std::fill(numbers_.begin(), numbers_.end(), -1);
  std::size_t n_features = 0;
  for (std::size_t e = 0; e < kept.size(); ++e) {
    // Two features with the same key, which is very rare, become one.
    if (e > 0 && kept[e].key == kept[e - 1].key) {
      repeats_ = true;
      --n_features;
    }
    check_number(n_features);
    numbers_[kept[e].slot] = static_cast<std::int32_t>(n_features++);
  }
  space = {{n_features, room}, {n_features, room}, {n_features, room}, {kMaxWords * n_features, room}};
  std::fill(space.words.begin(), space.words.end(), WordId{0});
  for (const Entry& e : kept) {
    const Slots::Family& family = families[e.family];
    const auto number = to_size(numbers_[e.slot]);
    const auto words = slots_->words(family, static_cast<std::uint32_t>(e.slot - family.begin), number_of_words);
    space.keys[number] = e.key;
    space.names[number] = family.name;
    space.lengths[number] = static_cast<std::uint8_t>(words.size());
    std::copy(words.begin(), words.end(), space.words.begin() + kMaxWords * number);
  }
}

TrainingFeatures::~TrainingFeatures() = default;

FeatureRows TrainingFeatures::rows(std::span<const std::uint32_t> occurrences, unsigned n_threads,
                                   const Progress& progress) const {
  for (const std::uint32_t i : occurrences)
    if (i >= n_occurrences_) throw Error("a phrase pair is out of range");
  return joined_rows(occurrences.size(), n_threads, progress, [&](std::size_t begin, RowsPart part) {
    // Prefetch some rows ahead: first the phrases, then the n-grams around them, then the numbers.
    constexpr std::size_t kBatch = 16;
    const std::size_t n = part.lengths.size();
    const auto ask = [&](std::size_t from, const auto& what) {
      for (std::size_t r = from; r < std::min(from + kBatch, n); ++r) what(occurrences[begin + r]);
    };
    std::vector<std::uint32_t> slots;
    std::array<std::size_t, kBatch + 1> ends{};
    auto& indices = part.indices;
    for (std::size_t batch = 0; batch < n; batch += kBatch) {
      const std::size_t size = std::min(kBatch, n - batch);
      ask(batch + 2 * kBatch, [&](std::size_t i) { slots_->prefetch_spans(i); });
      ask(batch + kBatch, [&](std::size_t i) { slots_->prefetch_grams(i); });
      slots.clear();
      for (std::size_t r = 0; r < size; ++r) {
        slots_->of_all(occurrences[begin + batch + r], [&](std::uint32_t slot) {
          __builtin_prefetch(&numbers_[slot]);
          slots.push_back(slot);
        });
        ends[r + 1] = slots.size();
      }
      for (std::size_t r = 0; r < size; ++r) {
        const std::size_t first = indices.size();
        indices.resize(first + ends[r + 1] - ends[r]);
        const auto row = indices.begin() + static_cast<std::ptrdiff_t>(first);
        auto end = row;
        // About half of the slots have no number, unpredictably, so this avoids a branch.
        for (std::size_t j = ends[r]; j < ends[r + 1]; ++j) {
          *end = numbers_[slots[j]];
          end += *end >= 0;
        }
        if (repeats_) {
          std::sort(row, end);
          end = std::unique(row, end);
        } else {
          sort_distinct(row, end);
        }
        part.lengths[batch + r] = end - row;
        indices.erase(end, indices.end());
      }
    }
  });
}

}  // namespace hyperbaton
