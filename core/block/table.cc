#include "block/table.hh"

#include <algorithm>
#include <numeric>

#include "phrases/inventory.hh"

namespace hyperbaton {

namespace {

struct Event {
  std::uint64_t source, target;
  std::uint32_t sentence;
  std::uint16_t begin, end;
  std::uint32_t tag;
  std::uint8_t jump;
};

constexpr std::size_t kSentencesAtOnce = 1024;  // read together by one thread

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
        throw Error("a link is out of range for its sentence pair");
}

BlockTable count_blocks(const BlockBitext& bitext, const TableOptions& options, const Progress& progress) {
  std::vector<std::vector<Event>> parts((bitext.size() + kSentencesAtOnce - 1) / kSentencesAtOnce);
  parallel_chunks(bitext.size(), kSentencesAtOnce, options.n_threads, progress, [&](std::size_t first, std::size_t last) {
    auto& events = parts[first / kSentencesAtOnce];
    PathReader reader(bitext);
    for (std::size_t s = first; s < last; ++s) {
      reader.read(s, [&](const BlockSentence& sentence, SourceSpan span, Words words, std::size_t jump, const History&) {
        const auto begin = to_size(span.begin), end = to_size(span.end);
        events.push_back({.source = hash_words(sentence.words.subspan(begin, end - begin)),
                          .target = hash_words(words),
                          .sentence = static_cast<std::uint32_t>(s),
                          .begin = static_cast<std::uint16_t>(begin),
                          .end = static_cast<std::uint16_t>(end),
                          .tag = sentence.tag(span),
                          .jump = static_cast<std::uint8_t>(jump)});
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
  std::vector<std::uint32_t> source_ids, target_ids;
  for (const auto& event : events) {
    source_ids.push_back(static_cast<std::uint32_t>(sources.find(event.source)));
    target_ids.push_back(static_cast<std::uint32_t>(targets.find(event.target)));
  }
  auto pairs = pair_phrases(source_ids, target_ids, table.source_keys.size(), options.n_threads, {});
  const auto events_of = [&](std::uint32_t pair) { return valid_slice(pairs.sample_order, pairs.sample_offsets, pair); };
  // Sort the pairs of a source phrase by decreasing frequency.
  std::vector<std::uint32_t> order(pairs.targets.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t p = 0; p < table.source_keys.size(); ++p)
    std::stable_sort(order.begin() + pairs.offsets[p], order.begin() + pairs.offsets[p + 1],
                     [&](std::uint32_t a, std::uint32_t b) { return events_of(a).size() > events_of(b).size(); });
  table.jumps.assign(order.size() * kJumps, 0);
  for (std::size_t row = 0; row < order.size(); ++row) {
    table.targets.push_back(pairs.targets[order[row]]);
    table.counts.push_back(static_cast<std::uint32_t>(events_of(order[row]).size()));
    for (const auto e : events_of(order[row])) ++table.jumps[row * kJumps + events[e].jump];
  }
  table.offsets = std::move(pairs.offsets);

  table.tag_jumps.assign(options.n_tags * kJumps, 0);
  table.length_jumps.assign(options.n_lengths * kJumps, 0);
  constexpr auto kNoEvent = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> source_example(table.source_keys.size(), kNoEvent),
      target_example(table.target_keys.size(), kNoEvent);
  for (std::size_t e = 0; e < events.size(); ++e) {
    const auto& event = events[e];
    const auto length = to_size(event.end - event.begin);
    if (length == 1 && event.tag < options.n_tags) ++table.tag_jumps[event.tag * kJumps + event.jump];
    ++table.length_jumps[std::min(length - 1, options.n_lengths - 1) * kJumps + event.jump];
    source_example[source_ids[e]] = std::min(source_example[source_ids[e]], e);
    target_example[target_ids[e]] = std::min(target_example[target_ids[e]], e);
  }
  table.source_offsets.push_back(0);
  for (const auto e : source_example) {
    const auto& event = events[e];
    const auto words = bitext.source.words[event.sentence].subspan(event.begin, to_size(event.end - event.begin));
    table.source_words.insert(table.source_words.end(), words.begin(), words.end());
    table.source_offsets.push_back(static_cast<std::int64_t>(table.source_words.size()));
  }
  table.target_offsets.push_back(0);
  for (const auto e : target_example) {
    const auto& event = events[e];
    // Links are sorted by source word, then target word.
    for (const auto link : bitext.links[event.sentence])
      if (link.source == event.begin) table.target_words.push_back(bitext.target[event.sentence][link.target]);
    table.target_offsets.push_back(static_cast<std::int64_t>(table.target_words.size()));
  }
  return table;
}

void BlockTableView::check() const {
  if (offsets.size() != source_keys.size() + 1 || !are_offsets(offsets, targets.size()) ||
      counts.size() != targets.size() || jumps.size() != targets.size() * kJumps ||
      target_tags.size() != target_keys.size() ||
      std::ranges::any_of(targets, [&](std::uint32_t t) { return t >= target_keys.size(); }))
    throw Error("the arrays of the block table do not match: train the model again");
}

}  // namespace hyperbaton
