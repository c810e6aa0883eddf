#include "operations/text.hh"

#include <string>

#include "base/errors.hh"
#include "operations/names.hh"

namespace hyperbaton {

void SpelledBitext::check() const {
  source.check();
  target.check();
  if (source.n_sentences() != target.n_sentences() || links.offsets.size() != source.offsets.size())
    throw Error("source, target and links have different numbers of sentences");
  for (std::size_t s = 0; s < source.n_sentences(); ++s)
    for (const auto link : links[s])
      if (link.source >= source.length(s) || link.target >= target.length(s))
        throw Error("a link is out of range for its sentence pair");
}

std::vector<std::uint8_t> find_singletons(const SpelledBitext& bitext) {
  std::vector<std::uint8_t> counts(bitext.source.word_offsets.size() - 1,
                                   0);  // number of links; 2 means more, or links to other words
  std::vector<std::uint32_t> of_source, of_target;
  for (std::size_t s = 0; s < bitext.source.n_sentences(); ++s) {
    of_source.assign(bitext.source.length(s), 0);
    of_target.assign(bitext.target.length(s), 0);
    for (const auto link : bitext.links[s]) {
      ++of_source[link.source];
      ++of_target[link.target];
    }
    for (const auto link : bitext.links[s]) {
      const bool itself = of_source[link.source] == 1 && of_target[link.target] == 1 &&
                          bitext.source.word(s, link.source) == bitext.target.word(s, link.target);
      auto& count = counts[bitext.source.tokens[to_size(bitext.source.offsets[s]) + link.source]];
      count = static_cast<std::uint8_t>(std::min(2, count + (itself ? 1 : 2)));
    }
  }
  for (auto& count : counts) count = count == 1;
  return counts;
}

OperationText write_operations(const SpelledBitext& bitext, std::span<const std::uint8_t> singletons,
                               const Progress& progress) {
  OperationText text;
  std::string name;
  const std::size_t n = bitext.source.n_sentences();
  for (std::size_t s = 0; s < n; ++s) {
    const auto n_source = static_cast<int>(bitext.source.length(s)), n_target = static_cast<int>(bitext.target.length(s));
    const auto plan = plan_phrase(bitext.links[s], {n_source, n_target});
    const auto first = to_size(bitext.source.offsets[s]);
    SourceWalk walk(n_source);
    const auto add = [&](std::string_view operation) { text.tokens.push_back(text.vocabulary.add(operation)); };
    for (const auto& word : plan.words) {
      if (word.generates()) {
        walk.go(word.position, [&](Move move, int gap) { add(move_name(move, gap)); });
        walk.generate();
      }
      spell_word(
          plan, word, [&](std::uint16_t i) { return bitext.source.word(s, i); },
          [&](std::uint16_t j) { return bitext.target.word(s, j); }, name);
      const bool itself = word.kind == PlannedWord::Kind::Translate && plan.cepts[word.cept].source.size() == 1 &&
                          singletons[bitext.source.tokens[first + word.position]];
      add(itself ? kTranslateItself : std::string_view(name));
    }
    text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
    if (s % 1024 == 0 && progress && !progress(s, n)) throw Cancelled();
  }
  return text;
}

}  // namespace hyperbaton
