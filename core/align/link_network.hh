// A network that corrects the posteriors of the hidden Markov models of both directions.
//
// Bidirectional LSTMs over both sentences give states h, and each word has a vector v of its form and its stem:
//
//     score(i, j) = key(h_i)·key(h_j) / √K  +  v_i·v_j / √V
//
// With the models' posteriors q (this direction's) and r (the other's), the corrected posterior of a word's origin is the
// softmax over the words of the other sentence, and null, of
//
//     a·score + b·log q + c·log r + weighted sums of sigmoid(score) and (q + r) / 2 in a window of 3 × 3 word pairs
//
// The score of null is linear in the word's state, plus (b + c)·log q. Sums have a fixed order, as in SentenceEncoder.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "align/pair_posteriors.hh"
#include "corpus/text.hh"
#include "network/sentence_encoder.hh"

namespace hyperbaton {

class LinkNetwork {
 public:
  // Rows of the embeddings by word; those of unknown words are 0.
  struct WordRows {
    std::span<const std::int32_t> words, stems;
  };

  // Those of align/neural/texts.py.
  struct Constants {
    float smallest_posterior;  // posteriors below this in both directions count as 0
    float posterior_floor;     // added to posteriors before taking the logarithm
    float window_scale;        // of the weighted sums of the window
  };

  // Arrays by name, as stored by align/neural/student.py: those of the sides begin with `source.` and `target.`. Throws if
  // they do not match. Embeddings and rows are borrowed.
  LinkNetwork(const HalfMatrices& arrays, const std::array<WordRows, 2>& rows, const Constants& constants);

  // One side of consecutive sentence pairs.
  struct EncodedSide {
    std::vector<std::int64_t> offsets{0};  // of words
    std::vector<float> vectors;            // keys and word vectors, `width` for each word
    std::vector<float> nulls;              // scores of null
  };
  using Encoded = std::array<EncodedSide, 2>;

  // Sentence pairs begin … end − 1; a pair that does not fit the model is treated as empty.
  Encoded encode(const AlignmentModel& model, BitextView bitext, std::size_t begin, std::size_t end) const;
  // Replace the posteriors of pair number `index` of the encoded ones.
  void correct(const Encoded& encoded, std::size_t index, PairPosteriors& pair) const;

 private:
  struct Side {
    Side(const HalfMatrices& arrays, const std::string& name, const WordRows& rows, float scale);
    WordRows rows;
    SentenceEncoder encoder;
    LinearLayer key;  // and the score of null
    HalfMatrix word_vectors, stem_vectors;
    float vector_scale;
  };

  Constants constants_;
  std::size_t n_keys_, n_values_;
  std::array<Side, 2> sides_;
  std::array<std::array<float, 3>, 2> mix_;                    // by Direction: a, b, c
  std::array<std::array<std::array<float, 9>, 2>, 2> window_;  // by Direction, then input
  std::array<float, 2> window_bias_;
};

}  // namespace hyperbaton
