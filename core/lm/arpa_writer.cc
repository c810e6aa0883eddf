#include "base/numbers.hh"
#include "lm/arpa.hh"
#include "lm/ngram_rows.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kPiece = 1 << 20;  // bytes, about

// The words of the n-gram in a slot, oldest first.
void spell(const NgramModel& model, std::uint32_t order, std::uint32_t slot, WordId* words) {
  for (auto n = order; n >= 1; --n) {
    if (slot >= model.table(n).n_slots()) throw_damaged("an n-gram of the language model has no parent");
    const auto key = model.table(n).key(slot);
    *words++ = ngram_key::word(key);
    slot = ngram_key::parent(key);
  }
}

// The slots of a table's n-grams.
std::vector<std::uint32_t> ngram_slots(const NgramTable& table) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < table.n_slots(); ++slot)
    if (table.is_ngram(slot)) slots.push_back(slot);
  return slots;
}

}  // namespace

ArpaWriter::ArpaWriter(const NgramModel& model, std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
                       unsigned n_threads)
    : model_(model), bytes_(bytes), offsets_(offsets), n_threads_(n_threads) {
  if (offsets.size() != model.n_words() + 1U) throw Error("the vocabulary does not fit the language model");
}

void ArpaWriter::sort_order() {
  const auto slots = ngram_slots(model_.table(order_));
  with_order(order_, [&]<std::size_t N>() {
    rows_.resize(slots.size() * (N + 2));
    const auto rows = as_rows<N>(std::span(rows_));
    parallel_chunks(rows.size(), 1 << 14, n_threads_, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        spell(model_, N, slots[i], rows[i].words.data());
        rows[i].value = {slots[i], 0};
      }
    });
    sort_rows(rows, BySuffix{}, n_threads_, {});
  });
}

void ArpaWriter::append_ngram(std::string& text, std::span<const std::uint32_t> row) const {
  const auto& table = model_.table(order_);
  const auto slot = row[order_];
  append_float(text, table.prob(slot));
  char separator = '\t';
  for (const auto word : row.first(order_)) {
    text.push_back(separator);
    const auto spelled = slice(bytes_, offsets_, word);
    text.append(reinterpret_cast<const char*>(spelled.data()), spelled.size());
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
    for (std::uint32_t n = 1; n <= model_.order(); ++n)
      text += "ngram " + std::to_string(n) + "=" + std::to_string(model_.table(n).count_ngrams()) + "\n";
  }
  if (done_ == rows_.size()) {
    if (++order_ > model_.order()) return "\n\\end\\\n";
    sort_order();
    done_ = 0;
    text += "\n\\" + std::to_string(order_) + "-grams:\n";
  }
  for (const std::size_t width = order_ + 2; done_ < rows_.size() && text.size() < kPiece; done_ += width)
    append_ngram(text, std::span(rows_).subspan(done_, width));
  return text;
}

}  // namespace hyperbaton
