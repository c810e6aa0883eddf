#include "network/orientation_encoder.hh"

#include <algorithm>

#include "base/errors.hh"
#include "base/size.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kPlaces = 4;

HalfMatrix table_of(const HalfMatrices& arrays, const std::string& name, std::size_t size) {
  const auto& table = find_matrix(arrays, name);
  if (table.n_columns != size || table.n_rows == 0) throw Error("the arrays of the network do not match: " + name);
  return table;
}

}  // namespace

OrientationEncoder::OrientationEncoder(const HalfMatrices& arrays) : encoder_(arrays) {
  const auto& out = find_matrix(arrays, "out.weight");
  n_classes_ = out.n_rows;
  size_ = out.n_columns;
  if (n_classes_ == 0 || size_ == 0) throw Error("the arrays of the network do not match: out.weight");
  out_ = LinearLayer(n_classes_, size_);
  out_.put_weights(out, 0);
  out_.put_bias(find_matrix(arrays, "out.bias", 1, n_classes_), 0);
  places_ = LinearLayer(kPlaces * size_, encoder_.state_size());
  places_.put_weights(find_matrix(arrays, "places.weight", kPlaces * size_, encoder_.state_size()), 0);
  places_.put_bias(find_matrix(arrays, "places.bias", 1, kPlaces * size_), 0);
  first_ = table_of(arrays, "first", size_);
  last_ = table_of(arrays, "last", size_);
  length_ = table_of(arrays, "length", size_);
}

void OrientationEncoder::scores(const EncoderText& text, const EncoderPhrases& phrases, std::span<float> scores,
                                unsigned n_threads) const {
  if (phrases.offsets.size() != text.offsets.size() || scores.size() != phrases.size() * n_classes_ ||
      to_size(phrases.offsets.back()) != phrases.size())
    throw Error("the phrases do not match the text");
  encoder_.for_each(text, n_threads, {}, [&](const SentenceEncoder::Encoded& encoded) {
    std::vector<float> places, sums, sum(size_), products;
    places_.apply(encoded.states, places, encoded.n_tokens);
    for (std::size_t b = 0; b < encoded.sentences.size(); ++b) {
      const std::size_t s = encoded.sentences[b];
      const auto from = to_size(phrases.offsets[s]), to = to_size(phrases.offsets[s + 1]);
      const std::int64_t n_words = text.offsets[s + 1] - text.offsets[s];
      sums.clear();
      for (std::size_t p = from; p < to; ++p) {
        const auto* columns = phrases.columns.data() + p * EncoderPhrases::kColumns;
        const std::int32_t begin = columns[0], end = columns[1], first = columns[2], last = columns[3];
        if (begin < 0 || begin >= end || end > n_words || first < 0 || last < 0)
          throw Error("a phrase is out of range for its sentence");
        // Word i is token i + 1.
        const std::array<std::int32_t, kPlaces> tokens{begin, begin + 1, end, end + 1};
        std::ranges::fill(sum, 0.0F);
        for (std::size_t k = 0; k < kPlaces; ++k) {
          const float* values = places.data() + (encoded.starts[b] + to_size(tokens[k])) * places_.width() + k * size_;
          for (std::size_t i = 0; i < size_; ++i) sum[i] += values[i];
        }
        add_row(first_, first, 1, sum.data());
        add_row(last_, last, 1, sum.data());
        add_row(length_, std::min<std::int64_t>(end - begin, static_cast<std::int64_t>(length_.n_rows)) - 1, 1, sum.data());
        for (const float value : sum) sums.push_back(std::max(value, 0.0F));
      }
      out_.apply(sums, products, to - from);
      for (std::size_t p = from; p < to; ++p)
        std::copy_n(products.data() + (p - from) * out_.width(), n_classes_, scores.data() + p * n_classes_);
    }
  });
}

}  // namespace hyperbaton
