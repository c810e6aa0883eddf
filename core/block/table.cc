#include "block/table.hh"

#include <algorithm>

namespace hyperbaton {

namespace {

struct Event {
  std::uint64_t source, target;
  std::uint32_t sentence;
  std::uint16_t begin, end;
  std::uint32_t tag;
  std::uint8_t jump;
};

constexpr std::size_t kSentences = 1024;  // read together by one thread

std::vector<std::uint64_t> distinct(const std::vector<Event>& events, std::uint64_t Event::* key) {
  std::vector<std::uint64_t> keys;
  keys.reserve(events.size());
  for (const auto& event : events) keys.push_back(event.*key);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

void BlockBitext::check() const {
  source.check();
  if (target.offsets.size() != source.words.offsets.size() || links.offsets.size() != source.words.offsets.size() ||
      target.offsets.back() != static_cast<std::int64_t>(target.tokens.size()))
    throw Error("source, target and links must have the same number of sentences");
  for (std::size_t s = 0; s < size(); ++s)
    for (const auto link : links[s])
      if (link.source >= source.words[s].size() || link.target >= target[s].size())
        throw Error("a link leaves its sentence pair");
}

BlockTable count_blocks(const BlockBitext& bitext, const TableOptions& options, const Progress& progress) {
  std::vector<std::vector<Event>> parts((bitext.size() + kSentences - 1) / kSentences);
  parallel_blocks(bitext.size(), kSentences, options.n_threads, progress, [&](std::size_t first, std::size_t last) {
    auto& events = parts[first / kSentences];
    PathReader reader(bitext);
    for (std::size_t s = first; s < last; ++s) {
      reader.read(s, [&](const BlockSentence& sentence, SourceSpan span, Words words, std::size_t jump, const History&) {
        const auto begin = static_cast<std::size_t>(span.begin), end = static_cast<std::size_t>(span.end);
        events.push_back({phrase_hash(sentence.words.subspan(begin, end - begin)), phrase_hash(words),
                          static_cast<std::uint32_t>(s), static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end),
                          sentence.tag(span), static_cast<std::uint8_t>(jump)});
      });
    }
  });
  std::vector<Event> events;
  for (auto& part : parts) {
    events.insert(events.end(), part.begin(), part.end());
    std::vector<Event>().swap(part);
  }

  BlockTable table;
  table.source_keys = distinct(events, &Event::source);
  table.target_keys = distinct(events, &Event::target);
  const KeyIndex sources(table.source_keys), targets(table.target_keys);
  // Pairs as source number, target number.
  std::vector<std::uint64_t> pairs;
  pairs.reserve(events.size());
  for (const auto& event : events)
    pairs.push_back(static_cast<std::uint64_t>(sources.find(event.source)) << 32 |
                    static_cast<std::uint32_t>(targets.find(event.target)));
  auto sorted = pairs;
  std::ranges::sort(sorted);
  struct Counted {
    std::uint64_t pair;
    std::uint32_t count;
  };
  std::vector<Counted> counted;
  for (const auto pair : sorted) {
    if (counted.empty() || counted.back().pair != pair) counted.push_back({pair, 0});
    ++counted.back().count;
  }
  std::ranges::stable_sort(counted, [](const Counted& a, const Counted& b) {
    return a.pair >> 32 != b.pair >> 32 ? a.pair >> 32 < b.pair >> 32 : a.count > b.count;
  });
  table.offsets.assign(table.source_keys.size() + 1, 0);
  for (const auto& one : counted) {
    ++table.offsets[static_cast<std::size_t>(one.pair >> 32) + 1];
    table.targets.push_back(static_cast<std::uint32_t>(one.pair));
    table.counts.push_back(one.count);
  }
  for (std::size_t p = 1; p < table.offsets.size(); ++p) table.offsets[p] += table.offsets[p - 1];

  // Rows by pair, to find them again.
  std::vector<std::uint32_t> rows(counted.size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = static_cast<std::uint32_t>(row);
  std::ranges::sort(rows, {}, [&](std::uint32_t row) { return counted[row].pair; });
  table.jumps.assign(counted.size() * kJumps, 0);
  table.tag_jumps.assign(options.n_tags * kJumps, 0);
  table.length_jumps.assign(options.n_lengths * kJumps, 0);
  constexpr auto kNoEvent = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> source_example(table.source_keys.size(), kNoEvent),
      target_example(table.target_keys.size(), kNoEvent);
  for (std::size_t e = 0; e < events.size(); ++e) {
    const auto& event = events[e];
    const auto row = *std::ranges::lower_bound(rows, pairs[e], {}, [&](std::uint32_t r) { return counted[r].pair; });
    ++table.jumps[row * kJumps + event.jump];
    const auto length = static_cast<std::size_t>(event.end - event.begin);
    if (length == 1 && event.tag < options.n_tags) ++table.tag_jumps[event.tag * kJumps + event.jump];
    ++table.length_jumps[std::min(length - 1, options.n_lengths - 1) * kJumps + event.jump];
    auto& source = source_example[static_cast<std::size_t>(pairs[e] >> 32)];
    auto& target = target_example[static_cast<std::uint32_t>(pairs[e])];
    source = std::min(source, e);
    target = std::min(target, e);
  }
  table.source_offsets.push_back(0);
  for (const auto e : source_example) {
    const auto& event = events[e];
    const auto words =
        bitext.source.words[event.sentence].subspan(event.begin, static_cast<std::size_t>(event.end - event.begin));
    table.source_words.insert(table.source_words.end(), words.begin(), words.end());
    table.source_offsets.push_back(static_cast<std::int64_t>(table.source_words.size()));
  }
  table.target_offsets.push_back(0);
  for (const auto e : target_example) {
    const auto& event = events[e];
    // Links come by source word, then target word.
    for (const auto link : bitext.links[event.sentence])
      if (link.source == event.begin) table.target_words.push_back(bitext.target[event.sentence][link.target]);
    table.target_offsets.push_back(static_cast<std::int64_t>(table.target_words.size()));
  }
  return table;
}

void BlockTableView::check() const {
  if (offsets.size() != source_keys.size() + 1 || offsets.front() != 0 ||
      offsets.back() != static_cast<std::int64_t>(targets.size()) || !std::ranges::is_sorted(offsets) ||
      counts.size() != targets.size() || jumps.size() != targets.size() * kJumps ||
      target_tags.size() != target_keys.size() ||
      std::ranges::any_of(targets, [&](std::uint32_t t) { return t >= target_keys.size(); }))
    throw Error("the arrays of the block table do not fit each other: train the model again");
}

}  // namespace hyperbaton
