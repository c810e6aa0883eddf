#include "block/features.hh"

namespace hyperbaton {

namespace {

// Combined with its jump, a key of a different kind.
std::uint64_t with_jump(std::uint64_t key, std::size_t jump) { return combine(key, jump); }

}  // namespace

BlockFeatures find_block_features(const BlockBitext& bitext, const BlockLookup& lookup, FamilySet families,
                                  const Counting& options, const Progress& progress) {
  const auto& table = lookup.table();
  const KeySource source{bitext.size(), bitext.source.words.tokens.size() * 16};
  const auto reader = [&](const auto& use) {
    return [&, use, steps = StepReader(bitext, lookup, families)](std::size_t s, const auto& emit) mutable {
      steps.read(s, [&](std::span<const Question> questions, std::uint32_t, std::span<const WordId> words, std::size_t jump,
                        SourceSpan, std::uint32_t) {
        const auto target = lookup.target(words);
        for (const auto& question : questions) use(feature_key(question, target, table.target_tags[target]), jump, emit);
      });
    };
  };
  const auto frequent = count_keys(source, options, progress, [&] {
    return reader([](std::uint64_t key, std::size_t jump, const auto& emit) { emit(with_jump(key, jump)); });
  });
  const KeyIndex kept(frequent);
  BlockFeatures features;
  features.keys = count_keys(source, {.min_count = 1, .bytes = options.bytes, .n_threads = options.n_threads}, {}, [&] {
    return reader([&](std::uint64_t key, std::size_t jump, const auto& emit) {
      if (kept.find(with_jump(key, jump)) >= 0) emit(key);
    });
  });

  const KeyIndex index(features.keys);
  const std::size_t n = features.keys.size();
  std::vector<std::uint32_t> counts(n * kJumps, 0);
  features.asks.resize(n);
  features.sources.resize(n);
  features.as.resize(n);
  features.bs.resize(n);
  features.targets.resize(n);
  StepReader steps(bitext, lookup, families);
  for (std::size_t s = 0; s < bitext.size(); ++s)
    steps.read(s, [&](std::span<const Question> questions, std::uint32_t, std::span<const WordId> words, std::size_t jump,
                      SourceSpan, std::uint32_t) {
      const auto target = lookup.target(words);
      const auto tag = table.target_tags[target];
      for (const auto& question : questions) {
        const auto found = index.find(feature_key(question, target, tag));
        if (found < 0) continue;
        const auto k = to_size(found);
        ++counts[k * kJumps + jump];
        features.asks[k] = static_cast<std::uint8_t>(question.ask);
        features.sources[k] = question.source;
        features.as[k] = question.a;
        features.bs[k] = question.b;
        features.targets[k] = about_tags(question.ask) ? tag : target;
      }
    });
  features.starts.push_back(0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < kJumps; ++j)
      if (const auto count = counts[k * kJumps + j]; count >= options.min_count) {
        features.jumps.push_back(static_cast<std::uint8_t>(j));
        features.counts.push_back(count);
      }
    features.starts.push_back(static_cast<std::int64_t>(features.jumps.size()));
  }
  return features;
}

}  // namespace hyperbaton
