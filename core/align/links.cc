#include "align/links.hh"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/counted.hh"
#include "base/errors.hh"
#include "base/parallel.hh"

namespace hyperbaton {

namespace {

// Parse a whole token as a decimal number; -1 if it is not one.
long parse_number(std::string_view token) {
  long value = -1;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  const bool whole = error == std::errc() && end == token.data() + token.size() && !token.empty() && token[0] != '-';
  return whole ? value : -1;
}

std::string range(int length) {
  return length == 0 ? std::string("is empty") : "has positions 0 to " + std::to_string(length - 1);
}

void check_line_count(std::size_t n_lines, SentenceLengths text, const char* what) {
  const std::size_t expected = text.n_sentences();
  if (text.known() && n_lines < expected)
    throw LineError(n_lines + 1, "the file ends after " + counted(n_lines, what) + "; the text has " +
                                     counted(expected, "sentence pair"));
}

[[noreturn]] void too_many(std::size_t line, std::size_t expected) {
  throw LineError(line, "more lines than the " + counted(expected, "sentence pair") + " of the text");
}

}  // namespace

void LinksBuffer::end_sentence() {
  const auto first = points.begin() + offsets.back();
  if (!std::is_sorted(first, points.end())) std::sort(first, points.end());
  points.erase(std::unique(first, points.end()), points.end());
  offsets.push_back(static_cast<std::int64_t>(points.size()));
}

void PharaohReader::add_line(std::string_view line) {
  const std::size_t s = n_sentences();
  if (s >= source_.n_sentences()) too_many(s + 1, source_.n_sentences());
  if (!line.empty() && line.back() == '\r') throw LineError(s + 1, describe(LineFault::CarriageReturn));
  for_each_token(line, [&](std::string_view token) {
    const auto dash = token.find('-');
    const long i = dash == std::string_view::npos ? -1 : parse_number(token.substr(0, dash));
    const long j = dash == std::string_view::npos ? -1 : parse_number(token.substr(dash + 1));
    if (i < 0 || j < 0) throw LineError(s + 1, "expected links like 0-0, found " + in_quotes(token));
    if (i >= source_[s])
      throw LineError(s + 1, "link " + in_quotes(token) + " is out of range: the source sentence " + range(source_[s]));
    if (j >= target_[s])
      throw LineError(s + 1, "link " + in_quotes(token) + " is out of range: the target sentence " + range(target_[s]));
    links_.points.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j)});
  });
  links_.end_sentence();
}

void PharaohReader::finish() {
  splitter_.finish([this](std::string_view line) { add_line(line); });
  check_line_count(n_sentences(), source_, "line");
}

void GizaReader::add_line(std::string_view line) {
  const std::size_t s = links_.offsets.size() - 1;
  if (s >= source_.n_sentences()) too_many(n_lines_ + 1, source_.n_sentences());
  ++n_lines_;
  const auto& generated = direction_ == kToTarget ? target_ : source_;
  switch (n_lines_ % 3) {
    case 1:
      if (!line.starts_with("#")) throw LineError(n_lines_, "expected '# Sentence pair …', found " + in_quotes(line));
      break;
    case 2: {
      n_generated_ = 0;
      for_each_token(line, [&](std::string_view) { ++n_generated_; });
      if (generated.known() && n_generated_ != generated[s])
        throw LineError(n_lines_, "the sentence has " + counted(n_generated_, "word") + ", the text " +
                                      std::to_string(generated[s]) + " at line " + std::to_string(s + 1));
      break;
    }
    default:
      add_generators(line);
      links_.end_sentence();
  }
}

// NULL ({ 3 }) word ({ 1 2 }) word ({ })
void GizaReader::add_generators(std::string_view line) {
  const std::size_t s = links_.offsets.size() - 1;
  const auto& generators = direction_ == kToTarget ? source_ : target_;
  const int n_generators = generators[s];
  int generator = -2;  // the next word is NULL, which is -1
  enum { Word, Open, Number } expected = Word;
  for_each_token(line, [&](std::string_view token) {
    if (expected == Word) {
      ++generator;
      expected = Open;
    } else if (expected == Open) {
      if (token != "({") throw LineError(n_lines_, "expected '({' after a word, found " + in_quotes(token));
      expected = Number;
    } else if (token == "})") {
      expected = Word;
    } else {
      const long j = parse_number(token);
      if (j < 1 || j > n_generated_)
        throw LineError(n_lines_,
                        "expected a position from 1 to " + std::to_string(n_generated_) + ", found " + in_quotes(token));
      if (generator < 0) return;
      const auto from = static_cast<std::uint16_t>(generator), to = static_cast<std::uint16_t>(j - 1);
      links_.points.push_back(direction_ == kToTarget ? Link{from, to} : Link{to, from});
    }
    if (generator >= n_generators)
      throw LineError(n_lines_, "more words than the " + std::to_string(n_generators) + " of the text at line " +
                                    std::to_string(s + 1));
  });
  if (expected != Word) throw LineError(n_lines_, "the line ends inside '({ … })'");
  if (generators.known() && generator + 1 != n_generators)
    throw LineError(n_lines_, "the sentence has " + counted(generator + 1, "word") + ", the text " +
                                  std::to_string(n_generators) + " at line " + std::to_string(s + 1));
}

void GizaReader::finish() {
  splitter_.finish([this](std::string_view line) { add_line(line); });
  if (n_lines_ % 3 != 0) throw LineError(n_lines_, "the file ends inside a sentence pair, which takes three lines");
  check_line_count(links_.offsets.size() - 1, source_, "sentence pair");
}

std::string format_links(LinksView links, std::span<const std::int64_t> sentences) {
  check_sentences(sentences, links.offsets.size() - 1);
  std::string text;
  char number[8];
  const auto append = [&](unsigned value) {
    text.append(number, std::to_chars(number, number + sizeof number, value).ptr);
  };
  for (const auto s : sentences) {
    bool first = true;
    for (const auto link : links[to_size(s)]) {
      if (!first) text.push_back(' ');
      first = false;
      append(link.source);
      text.push_back('-');
      append(link.target);
    }
    text.push_back('\n');
  }
  return text;
}

VisitOrders visit_orders(LinksView links, unsigned n_threads) {
  const std::size_t n = links.offsets.size() - 1;
  VisitOrders orders;
  orders.offsets.assign(n + 1, 0);
  orders.positions.resize(links.points.size());
  constexpr std::size_t chunk = 4096;
  // Each source position appears once, so an order is never longer than the links it comes from: write in place
  // of the links, then close the gaps.
  parallel_chunks(n, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    std::vector<Link> first;  // (source, first target), then sorted by target
    for (std::size_t s = begin; s < end; ++s) {
      first.clear();
      for (const auto link : links[s])
        if (first.empty() || first.back().source != link.source) first.push_back(link);
      std::sort(first.begin(), first.end(),
                [](Link a, Link b) { return a.target != b.target ? a.target < b.target : a.source < b.source; });
      auto* out = orders.positions.data() + links.offsets[s];
      for (const auto link : first) *out++ = link.source;
      orders.offsets[s + 1] = static_cast<std::int64_t>(first.size());
    }
  });
  std::int64_t at = 0;
  for (std::size_t s = 0; s < n; ++s) {
    const std::int64_t size = orders.offsets[s + 1];
    const auto* from = orders.positions.data() + links.offsets[s];
    std::copy(from, from + size, orders.positions.data() + at);
    at += size;
    orders.offsets[s + 1] = at;
  }
  orders.positions.resize(to_size(at));
  return orders;
}

namespace {

// Links are sorted by source word. `tree` is scratch space: a binary indexed tree with the number of links seen so far by
// target position.
Crossings crossings_of(std::span<const Link> links, std::vector<std::int64_t>& tree) {
  Crossings crossings{0, 0};
  if (links.empty()) return crossings;
  std::size_t n_positions = 0;
  for (const auto link : links) n_positions = std::max<std::size_t>(n_positions, link.target + 1u);
  tree.assign(n_positions + 1, 0);
  // The smallest target position among links of later source words, by link.
  std::vector<int> least_later(links.size());
  int least = std::numeric_limits<int>::max(), least_of_word = least;
  for (std::size_t k = links.size(); k-- > 0;) {
    if (k + 1 < links.size() && links[k].source != links[k + 1].source) {
      least = std::min(least, least_of_word);
      least_of_word = std::numeric_limits<int>::max();
    }
    least_later[k] = least;
    least_of_word = std::min<int>(least_of_word, links[k].target);
  }
  std::int64_t n_earlier = 0;
  for (std::size_t begin = 0; begin < links.size();) {
    std::size_t end = begin;
    while (end < links.size() && links[end].source == links[begin].source) ++end;
    for (std::size_t k = begin; k < end; ++k) {
      std::int64_t behind = n_earlier;  // links of earlier source words with greater target positions
      for (std::size_t at = links[k].target + 1u; at > 0; at -= at & -at) behind -= tree[at];
      crossings.n_crossings += behind;
      crossings.n_straight += behind == 0 && least_later[k] >= links[k].target;
    }
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t at = links[k].target + 1u; at <= n_positions; at += at & -at) ++tree[at];
    n_earlier += static_cast<std::int64_t>(end - begin);
    begin = end;
  }
  return crossings;
}

}  // namespace

std::vector<Crossings> count_crossings(LinksView links, unsigned n_threads) {
  std::vector<Crossings> counts(links.offsets.size() - 1);
  constexpr std::size_t block = 4096;
  parallel_chunks(counts.size(), block, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> tree;
    for (std::size_t s = begin; s < end; ++s) counts[s] = crossings_of(links[s], tree);
  });
  return counts;
}

}  // namespace hyperbaton
