#include "align/link_network.hh"

#include <algorithm>
#include <cmath>

#include "base/errors.hh"
#include "base/half.hh"
#include "base/math.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kWindowSide = 3;
constexpr std::size_t kInner = 8;  // outputs of the inner layer
constexpr std::size_t kSeen = 5;   // its inputs

constexpr std::array<const char*, 2> kSides{"source.", "target."};

HalfMatrices side_arrays(const HalfMatrices& arrays, const std::string& prefix) {
  HalfMatrices found;
  for (const auto& [name, matrix] : arrays)
    if (name.starts_with(prefix)) found.emplace(name.substr(prefix.size()), matrix);
  return found;
}

std::size_t n_columns(const HalfMatrices& arrays, const std::string& name) {
  const auto place = arrays.find(name);
  if (place == arrays.end() || place->second.n_columns == 0) throw Error("the network has no array " + name);
  return place->second.n_columns;
}

// Posteriors in both directions, by generated word and then by state, from scores by source and target word; the scores of
// null are by generated word.
std::array<std::vector<float>, 2> softmax(const std::array<std::vector<float>, 2>& scores,
                                          const std::array<std::vector<float>, 2>& nulls) {
  std::array<std::vector<float>, 2> posteriors;
  for (const auto direction : kBothDirections) {
    const std::size_t n_words = nulls[direction].size(), n_states = nulls[1 - direction].size();
    const std::size_t stride = direction == kToTarget ? n_words : 1, next = direction == kToTarget ? 1 : n_states;
    auto& values = posteriors[direction];
    values.resize(n_words * n_states);
    for (std::size_t word = 0; word < n_words; ++word) {
      const float* score = scores[direction].data() + word * next;
      const float null = nulls[direction][word];
      float* row = values.data() + word * n_states;
      float most = null;
      for (std::size_t state = 0; state < n_states; ++state) most = std::max(most, row[state] = score[state * stride]);
      float sum = math::exp_bounded(null - most);
      for (std::size_t state = 0; state < n_states; ++state) sum += row[state] = math::exp_bounded(row[state] - most);
      for (std::size_t state = 0; state < n_states; ++state) row[state] /= sum;
    }
  }
  return posteriors;
}

}  // namespace

LinkNetwork::Side::Side(const HalfMatrices& arrays, const std::string& name, const WordRows& word_rows, float scale)
    : rows(word_rows), encoder(side_arrays(arrays, name)), vector_scale(1) {
  const auto own = side_arrays(arrays, name);
  const std::size_t state = encoder.state_size(), n_keys = find_matrix(own, "key.weight", state, state).n_rows;
  key = LinearLayer(n_keys + 1, state);
  key.put_weights(find_matrix(own, "key.weight", n_keys, state), 0, scale);
  key.put_bias(find_matrix(own, "key.bias", 1, n_keys), 0, scale);
  key.put_weights(find_matrix(own, "null.weight", 1, state), n_keys);
  key.put_bias(find_matrix(own, "null.bias", 1, 1), n_keys);
  const std::size_t n_values = n_columns(own, "vector");
  word_vectors = find_matrix(own, "vector", own.at("word").n_rows, n_values);
  stem_vectors = find_matrix(own, "stem_vector", own.at("label").n_rows, n_values);
}

LinkNetwork::Window::Window(const HalfMatrices& arrays, const std::string& name, std::size_t n_outputs,
                            std::size_t n_inputs)
    : n_inputs(n_inputs), weights(kWindowSide * kWindowSide * n_inputs * n_outputs), bias(n_outputs) {
  constexpr std::size_t kArea = kWindowSide * kWindowSide;
  const auto& stored = find_matrix(arrays, name + ".weight", n_outputs, n_inputs * kArea);
  const auto& stored_bias = find_matrix(arrays, name + ".bias", 1, n_outputs);
  for (std::size_t o = 0; o < n_outputs; ++o) {
    bias[o] = from_half(stored_bias.values[o]);
    for (std::size_t input = 0; input < n_inputs; ++input)
      for (std::size_t k = 0; k < kArea; ++k)
        weights[(o * kArea + k) * n_inputs + input] = from_half(stored.values[(o * n_inputs + input) * kArea + k]);
  }
}

LinkNetwork::Window::Sums LinkNetwork::Window::operator()(const Grid& grid) const {
  constexpr std::size_t kTogether = Panels::kWidth;  // word pairs
  const std::size_t n_weights = kWindowSide * kWindowSide * n_inputs;
  Sums sums{
      .width = grid.width(), .size = (grid.n_rows() * grid.width() + kTogether - 1) / kTogether * kTogether, .values = {}};
  for (const float value : bias) sums.values.insert(sums.values.end(), sums.size, value);
  Panels neighbours(kTogether, n_weights);
  for (std::size_t first = 0; first < sums.size; first += kTogether) {
    std::size_t k = 0;
    for (std::size_t row = 0; row < kWindowSide; ++row)
      for (std::size_t column = 0; column < kWindowSide; ++column)
        for (std::size_t input = 0; input < n_inputs; ++input, ++k)
          std::copy_n(grid.corners(input) + first + row * grid.width() + column, kTogether, &neighbours.at(0, k));
    add_products(neighbours, {weights.data(), n_weights}, {sums.values.data() + first, sums.size}, bias.size());
  }
  return sums;
}

LinkNetwork::LinkNetwork(const HalfMatrices& arrays, const std::array<WordRows, 2>& rows, const Constants& constants)
    : constants_(constants),
      n_keys_(n_columns(arrays, "source.key.weight")),
      n_values_(n_columns(arrays, "source.vector")),
      sides_{Side(arrays, kSides[0], rows[0], 1.0f / std::sqrt(static_cast<float>(n_keys_))),
             Side(arrays, kSides[1], rows[1], 1.0f)},
      window_(arrays, "window", 2, 2),
      inner_(arrays, "inner", kInner, kSeen),
      outer_(arrays, "outer", 2, kInner) {
  if (sides_[1].encoder.state_size() != n_keys_ || sides_[1].word_vectors.n_columns != n_values_)
    throw Error("the arrays of the network do not match");
  sides_[0].vector_scale = 1.0f / std::sqrt(static_cast<float>(n_values_));
  const auto& mix = find_matrix(arrays, "mix", 2, 3);
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t k = 0; k < 3; ++k) mix_[d][k] = from_half(mix.values[3 * d + k]);
}

PosteriorCorrection::Step LinkNetwork::prepare(const AlignmentModel& model, BitextView bitext, std::size_t begin,
                                               std::size_t end) const {
  return [this, begin, encoded = encode(model, bitext, begin, end)](std::size_t s, PairPosteriors& pair) {
    correct(encoded, s - begin, pair);
  };
}

LinkNetwork::Encoded LinkNetwork::encode(const AlignmentModel& model, BitextView bitext, std::size_t begin,
                                         std::size_t end) const {
  Encoded encoded;
  for (std::size_t n = 0; n < 2; ++n) {
    const Side& side = sides_[n];
    const TokensView text = n == 0 ? bitext.source : bitext.target;
    EncodedSide& out = encoded[n];
    std::vector<std::int32_t> words, stems;
    for (std::size_t s = begin; s < end; ++s) {
      if (model.fits(bitext.source[s], bitext.target[s]))
        for (const auto word : text[s]) {
          const bool known = word < side.rows.words.size();
          words.push_back(known ? side.rows.words[word] : 0);
          stems.push_back(known ? side.rows.stems[word] : 0);
        }
      out.offsets.push_back(static_cast<std::int64_t>(words.size()));
    }
    const std::size_t width = n_keys_ + n_values_;
    out.vectors.assign(words.size() * width, 0);
    out.nulls.resize(words.size());
    side.encoder.for_each({.words = words, .labels = stems, .offsets = out.offsets}, 1, {},
                          [&](const SentenceEncoder::Encoded& states) {
                            std::vector<float> keys;
                            side.key.apply(states.states, keys, states.n_tokens);
                            for (std::size_t b = 0; b < states.sentences.size(); ++b) {
                              const std::size_t s = states.sentences[b];
                              const auto first = to_size(out.offsets[s]), last = to_size(out.offsets[s + 1]);
                              for (std::size_t word = first; word < last; ++word) {
                                const float* row = keys.data() + (states.starts[b] + 1 + word - first) * side.key.width();
                                float* vector = out.vectors.data() + word * width;
                                std::copy_n(row, n_keys_, vector);
                                out.nulls[word] = row[n_keys_];
                                add_row(side.word_vectors, words[word], side.vector_scale, vector + n_keys_);
                                add_row(side.stem_vectors, stems[word], side.vector_scale, vector + n_keys_);
                              }
                            }
                          });
  }
  return encoded;
}

void LinkNetwork::correct(const Encoded& encoded, std::size_t index, PairPosteriors& pair) const {
  const std::size_t n = pair.n_source(), m = pair.n_target(), width = n_keys_ + n_values_;
  const auto source = to_size(encoded[0].offsets[index]);
  const auto target = to_size(encoded[1].offsets[index]);
  Panels panels(m, width);
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t k = 0; k < width; ++k) panels.at(j, k) = encoded[1].vectors[(target + j) * width + k];
  std::vector<float> scores(n * panels.width(), 0);
  add_products(panels, {encoded[0].vectors.data() + source * width, width}, {scores.data(), panels.width()}, n);
  const auto log_of = [&](float posterior) {
    return static_cast<float>(math::log(static_cast<double>(posterior + constants_.posterior_floor)));
  };
  const float log_floor = log_of(0);
  std::array<std::vector<float>, 2> logs{std::vector<float>(n * m, log_floor), std::vector<float>(n * m, log_floor)};
  std::array<std::vector<float>, 2> nulls{std::vector<float>(m, 1), std::vector<float>(n, 1)};
  Grid inputs(n, m, 2), seen(n, m, kSeen), inner(n, m, kInner);
  for (std::size_t i = 0; i < n; ++i) {
    const float* score = scores.data() + i * panels.width();
    float* alike = seen.row(2, i);
    for (std::size_t j = 0; j < m; ++j) alike[j] = math::sigmoid(score[j]);
    std::copy_n(alike, m, inputs.row(0, i));
    for (std::size_t j = 0; j < m; ++j) {
      const float to_target = pair.to_target(i, j), to_source = pair.to_source(i, j);
      if (std::max(to_target, to_source) < constants_.smallest_posterior) continue;
      logs[kToTarget][i * m + j] = log_of(to_target);
      logs[kToSource][i * m + j] = log_of(to_source);
      nulls[kToTarget][j] -= to_target;
      nulls[kToSource][i] -= to_source;
      inputs.row(1, i)[j] = (to_target + to_source) / 2;
      seen.row(3, i)[j] = to_target;
      seen.row(4, i)[j] = to_source;
    }
  }
  for (const auto direction : kBothDirections) {
    const auto [a, b, c] = mix_[direction];
    const auto& side = encoded[direction == kToTarget];
    const std::size_t first = direction == kToTarget ? target : source;
    for (std::size_t word = 0; word < nulls[direction].size(); ++word) {
      float& null = nulls[direction][word];
      null = side.nulls[first + word] + (b + c) * log_of(std::clamp(null, 0.0f, 1.0f));
    }
  }
  std::array<std::vector<float>, 2> sums{std::vector<float>(n * m), std::vector<float>(n * m)};
  const auto near = window_(inputs);
  for (const auto direction : kBothDirections) {
    const auto [a, b, c] = mix_[direction];
    for (std::size_t i = 0; i < n; ++i) {
      const float *score = scores.data() + i * panels.width(), *around = near.row(direction, i);
      const float *own = logs[direction].data() + i * m, *other = logs[1 - direction].data() + i * m;
      float* sum = sums[direction].data() + i * m;
      for (std::size_t j = 0; j < m; ++j)
        sum[j] = a * score[j] + b * own[j] + c * other[j] + constants_.window_scale * around[j];
    }
  }
  const auto corrected = softmax(sums, nulls);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) seen.row(0, i)[j] = corrected[kToTarget][j * n + i];
    std::copy_n(corrected[kToSource].data() + i * m, m, seen.row(1, i));
  }
  const auto hidden = inner_(seen);
  for (std::size_t k = 0; k < kInner; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      const float* value = hidden.row(k, i);
      float* out = inner.row(k, i);
      for (std::size_t j = 0; j < m; ++j) out[j] = math::tanh(value[j]);
    }
  const auto last = outer_(inner);
  for (const auto direction : kBothDirections)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) sums[direction][i * m + j] += constants_.window_scale * last.row(direction, i)[j];
  pair.replace(softmax(sums, nulls));
}

}  // namespace hyperbaton
