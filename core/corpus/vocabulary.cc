#include "corpus/vocabulary.hh"

#include <algorithm>
#include <ranges>

#include "base/errors.hh"
#include "base/hash.hh"
#include "corpus/text.hh"

namespace hyperbaton {

WordId find_ordered(SpelledWords words, const NumbersView& order, std::string_view wanted) {
  const auto word = [&](std::size_t place) {
    const auto id = order[place];
    if (id >= words.size()) throw_damaged("the order of a vocabulary has an unknown word");
    return words[id];
  };
  const auto places = std::views::iota(std::size_t{0}, order.size());
  const auto found = std::ranges::lower_bound(places, wanted, {}, word);
  return found != places.end() && word(*found) == wanted ? static_cast<WordId>(order[*found]) : kUnknownWord;
}

Vocabulary::Vocabulary(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets)
    : bytes_(bytes.begin(), bytes.end()), offsets_(offsets.begin(), offsets.end()) {
  if (!are_offsets(offsets_, bytes_.size())) throw Error("vocabulary offsets do not match its bytes");
  grow();
}

std::size_t Vocabulary::slot(std::string_view wanted) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash_bytes(wanted) & mask;
  while (table_[at] != kUnknownWord && word(table_[at]) != wanted) at = (at + 1) & mask;
  return at;
}

WordId Vocabulary::find(std::string_view wanted) const { return table_.empty() ? kUnknownWord : table_[slot(wanted)]; }

WordId Vocabulary::add(std::string_view wanted) {
  if (2 * (size() + 1) > table_.size()) grow();
  WordId& entry = table_[slot(wanted)];
  if (entry == kUnknownWord) {
    entry = static_cast<WordId>(size());
    bytes_.insert(bytes_.end(), wanted.begin(), wanted.end());
    offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
  }
  return entry;
}

void Vocabulary::grow() {
  std::size_t n_slots = 1024;
  while (n_slots < 4 * (size() + 1)) n_slots *= 2;
  table_.assign(n_slots, kUnknownWord);
  for (WordId id = 0; id < size(); ++id) {
    WordId& entry = table_[slot(word(id))];
    if (entry != kUnknownWord) throw Error("the vocabulary contains a word twice: " + in_quotes(word(id)));
    entry = id;
  }
}

}  // namespace hyperbaton
