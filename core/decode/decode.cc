#include "decode/decode.hh"

#include "base/size.hh"

namespace hyperbaton {

namespace {

struct Translated {
  std::vector<Path> paths;
  std::vector<float> features;
  std::size_t first_option = 0;
  bool relaxed = false;
  SearchCounts counts;
  std::vector<GraphRow> graph;
};

Translated translate(const DecodeInput& input, std::size_t sentence, const DecodeSettings& settings, Poll& poll) {
  Translated result;
  result.first_option = to_size(input.options.offsets[sentence]);
  auto search_settings = settings.search;
  while (true) {
    Space space(input, sentence, search_settings.limits);
    const bool keep_arcs = settings.n_best.n > 1 || settings.graph;
    Search search(space, search_settings, keep_arcs, poll);
    const bool complete = search.run();
    if (!result.relaxed) result.counts = search.counts();
    if (complete || result.relaxed || !settings.relax) {
      result.paths = best_paths(search, space, settings.n_best);
      for (const auto& path : result.paths) space.add_path_values(path.options, result.features);
      if (settings.graph) result.graph = search_graph(search);
      return result;
    }
    result.relaxed = true;
    search_settings.limits.constraints = false;
    search_settings.limits.distortion = -1;
    search_settings.limits.jump_threshold = 0;
    search_settings.limits.itg = false;
  }
}

// The options of a sentence, by their numbers in it.
std::vector<std::uint32_t> options_of(const DecodeInput& input, std::size_t sentence, std::span<const std::int64_t> path) {
  const auto first = input.options.offsets.at(sentence), last = input.options.offsets.at(sentence + 1);
  if (path.empty()) throw Error("a path needs at least one step");
  std::vector<std::uint32_t> options;
  for (const auto row : path) {
    if (row < first || row >= last) throw Error("a path contains an option of another sentence");
    options.push_back(static_cast<std::uint32_t>(row - first));
  }
  return options;
}

}  // namespace

Decoded decode(const DecodeInput& input, const DecodeSettings& settings, const Progress& progress) {
  const std::size_t n = input.source_offsets.size() - 1;
  std::vector<Translated> parts(n);
  const auto order = longest_first(input.source_offsets);
  parallel_chunks(n, 1, settings.n_threads, progress, [&](std::size_t at, std::size_t, Poll& poll) {
    parts[order[at]] = translate(input, order[at], settings, poll);
  });
  Decoded all;
  all.n_features = input.n_values();
  all.path_offsets.push_back(0);
  all.step_offsets.push_back(0);
  all.graph_offsets.push_back(0);
  for (auto& part : parts) {
    for (const auto& path : part.paths) {
      for (const auto option : path.options) all.options.push_back(static_cast<std::int64_t>(part.first_option + option));
      all.step_offsets.push_back(static_cast<std::int64_t>(all.options.size()));
      all.scores.push_back(path.score);
    }
    all.features.insert(all.features.end(), part.features.begin(), part.features.end());
    all.path_offsets.push_back(static_cast<std::int64_t>(all.scores.size()));
    all.relaxed.push_back(part.relaxed);
    all.counts.push_back(part.counts);
    for (auto& row : part.graph) {
      if (row.option >= 0) row.option += static_cast<std::int64_t>(part.first_option);
      all.graph.push_back(row);
    }
    all.graph_offsets.push_back(static_cast<std::int64_t>(all.graph.size()));
    part = Translated{};
  }
  return all;
}

Space unlimited(const DecodeInput& input, std::size_t sentence) {
  return {input, sentence, {-1, false, {false, false}, FutureJumps::None, 0, false}};
}

std::vector<float> last_step_values(const DecodeInput& input, std::size_t sentence,
                                    std::span<const std::vector<std::int64_t>> paths) {
  Space space = unlimited(input, sentence);
  std::vector<float> values, last_steps;
  const auto n = static_cast<std::ptrdiff_t>(input.n_values());
  for (const auto& path : paths) {
    values.clear();
    space.add_path_values(options_of(input, sentence, path), values);  // whose last row is the end of the sentence
    last_steps.insert(last_steps.end(), values.end() - 2 * n, values.end() - n);
  }
  return last_steps;
}

std::vector<std::uint8_t> step_classes(const DecodeInput& input, std::size_t sentence, std::span<const std::int64_t> path) {
  return unlimited(input, sentence).path_classes(options_of(input, sentence, path));
}

}  // namespace hyperbaton
