// The probabilities of whole texts.
#pragma once

#include <vector>

#include "base/parallel.hh"
#include "corpus/text.hh"
#include "lm/ngram_model.hh"

namespace hyperbaton {

// log p of each word and then of </s>, natural log, sentence by sentence, each begun with <s>: n_tokens + n_sentences
// values. Tokens are word numbers of the model.
std::vector<float> score_words(const NgramModel& model, const TokensView& text, unsigned n_threads,
                               const Progress& progress);

}  // namespace hyperbaton
