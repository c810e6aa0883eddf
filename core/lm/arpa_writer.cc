#include <algorithm>
#include <array>
#include <numeric>

#include "base/numbers.hh"
#include "lm/arpa.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kPiece = 1 << 20;  // bytes, about

// The words of the n-gram in a slot, oldest first.
void spell(const NgramModel& model, std::uint32_t order, std::uint32_t slot, WordId* words) {
  for (auto n = order; n >= 1; --n) {
    const auto key = model.table(n).key(slot);
    *words++ = ngram_key::word(key);
    slot = ngram_key::parent(key);
  }
}

}  // namespace

ArpaWriter::ArpaWriter(const NgramModel& model, std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets)
    : model_(model), bytes_(bytes), offsets_(offsets) {
  if (offsets.size() != model.n_words() + 1U) throw Error("the vocabulary does not fit the language model");
  for (std::uint32_t n = 1; n <= model.order(); ++n) {
    auto& found = slots_.emplace_back();
    for (std::uint32_t slot = 0; slot < model.table(n).n_slots(); ++slot) {
      const auto key = model.table(n).key(slot);
      if (key != ngram_key::kEmpty && !(key & ngram_key::kBlank)) found.push_back(slot);
    }
  }
}

void ArpaWriter::start_order() {
  const auto n = ++order_;
  done_ = 0;
  auto& slots = slots_[n - 1];
  std::vector<std::array<WordId, kMaxNgramOrder>> words(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) spell(model_, n, slots[i], words[i].data());
  std::vector<std::uint32_t> sorted(slots.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return words[a] < words[b]; });
  words_.clear();
  for (auto& i : sorted) {
    words_.insert(words_.end(), words[i].begin(), words[i].begin() + n);
    i = slots[i];
  }
  slots = std::move(sorted);
}

void ArpaWriter::append_ngram(std::string& text, std::span<const WordId> words, std::uint32_t slot) const {
  const auto& table = model_.table(order_);
  append_float(text, table.prob(slot));
  char separator = '\t';
  for (const auto word : words) {
    text.push_back(separator);
    text.append(reinterpret_cast<const char*>(bytes_.data()) + offsets_[word],
                static_cast<std::size_t>(offsets_[word + 1] - offsets_[word]));
    separator = ' ';
  }
  if (order_ < model_.order()) {
    text.push_back('\t');
    append_float(text, table.backoff(slot));
  }
  text.push_back('\n');
}

std::string ArpaWriter::next() {
  std::string text;
  if (order_ > model_.order()) return text;
  if (order_ == 0) {
    text = "\\data\\\n";
    for (std::size_t n = 1; n <= slots_.size(); ++n)
      text += "ngram " + std::to_string(n) + "=" + std::to_string(slots_[n - 1].size()) + "\n";
  }
  if (order_ == 0 || done_ == slots_[order_ - 1].size()) {
    if (order_ == model_.order()) {
      ++order_;
      return text + "\n\\end\\\n";
    }
    start_order();
    text += "\n\\" + std::to_string(order_) + "-grams:\n";
  }
  const auto& slots = slots_[order_ - 1];
  for (; done_ < slots.size() && text.size() < kPiece; ++done_)
    append_ngram(text, std::span(words_).subspan(done_ * order_, order_), slots[done_]);
  return text;
}

}  // namespace hyperbaton
