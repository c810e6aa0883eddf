#include "lm/packed_ngrams.hh"

#include <algorithm>
#include <bit>
#include <utility>

namespace hyperbaton {

bool WordPairs::allow(std::uint32_t before, std::uint32_t word) const {
  return (last[before] != 0 && first[word] != 0) ||
         std::ranges::binary_search(inside, static_cast<std::uint64_t>(before) << 32 | word);
}

namespace {

using Children = std::vector<std::uint32_t>;  // the first child of each node, and their number

class Packer {
 public:
  Packer(const NgramModel& model, const WordPairs* pairs) : model_(model), pairs_(pairs) {
    for (std::uint32_t word = 0; word < model.n_words(); ++word) slots_.push_back(word);
  }

  std::vector<NgramArrays> pack() {
    std::vector<NgramArrays> result;
    for (std::uint32_t n = 1; n <= model_.order(); ++n) {
      auto above = n < model_.order() ? kept(n + 1) : Above{};
      result.push_back(n == 1 ? words(above.first) : ngrams(n, above.first));
      slots_ = std::move(above.slots);
    }
    return result;
  }

 private:
  // The n-grams of the next order.
  struct Above {
    std::vector<std::uint32_t> slots;  // in the model, in the order of the packed table
    Children first;
  };

  // The n-grams of order n that are kept, given those of the order below.
  Above kept(std::uint32_t n) const {
    const auto& table = model_.table(n);
    const auto& below = model_.table(n - 1);
    std::vector<std::uint32_t> packed(below.n_slots(), NgramTable::kNone);
    for (std::uint32_t i = 0; i < slots_.size(); ++i) packed[slots_[i]] = i;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> entries;
    for (std::uint32_t slot = 0; slot < table.n_slots(); ++slot) {
      if (table.key(slot) == ngram_key::kEmpty) continue;
      const auto parent = model_.parent(n, slot);
      if (parent >= packed.size()) throw_damaged("an n-gram of the language model has no parent");
      const auto word = ngram_key::word(table.key(slot)), next = ngram_key::word(below.key(parent));
      if (std::max(word, next) >= model_.n_words()) throw_damaged("an n-gram of the language model has an unknown word");
      if (packed[parent] == NgramTable::kNone || (pairs_ && !pairs_->allow(word, next))) continue;
      entries.emplace_back(ngram_key::make(packed[parent], word), slot);
    }
    std::ranges::sort(entries);
    Above above{.slots = {}, .first = Children(slots_.size() + 1)};
    for (const auto& [key, slot] : entries) {
      above.slots.push_back(slot);
      ++above.first[ngram_key::parent(key) + 1];
    }
    for (std::size_t i = 1; i < above.first.size(); ++i) above.first[i] += above.first[i - 1];
    return above;
  }

  static NgramArrays empty(std::size_t n_slots, std::size_t stride) {
    return {.bytes = std::vector<std::uint8_t>(n_slots * stride), .stride = stride, .prob_bins = {}, .backoff_bins = {}};
  }

  NgramArrays words(const Children& first) const {
    const auto& table = model_.table(1);
    auto result = empty(table.n_slots(), 8 + table.values(0).size());
    for (std::uint32_t word = 0; word < table.n_slots(); ++word) {
      const bool has_children = !first.empty() && first[word] < first[word + 1];
      const auto flags = table.key(word) & (ngram_key::kExtendsRight | ngram_key::kBlank);
      const auto key = ngram_key::make(first.empty() ? 0 : first[word], word) | flags;
      put(result, word, has_children ? key | ngram_key::kExtendsLeft : key, 8, table.values(word));
    }
    return result;
  }

  NgramArrays ngrams(std::uint32_t n, const Children& first) const {
    const auto& table = model_.table(n);
    const auto word_bits = static_cast<unsigned>(std::bit_width(model_.n_words()));
    const auto child_bits = first.empty() ? 0U : 2 + static_cast<unsigned>(std::bit_width(first.back()));
    const std::size_t key_bytes = (word_bits + child_bits + 7) / 8;
    if (key_bytes > 7) throw Error("the language model has too many n-grams to be packed");
    auto result = empty(slots_.size() + ngram_key::kPackedEnd, key_bytes + table.value_bytes());
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      const auto key = table.key(slots_[i]);
      auto packed = static_cast<std::uint64_t>(ngram_key::word(key));
      if (!first.empty()) {
        packed |= (key >> 30 & 3) << word_bits;
        packed |= static_cast<std::uint64_t>(first[i]) << (word_bits + 2);
      }
      put(result, i, packed, key_bytes, table.values(slots_[i]));
    }
    if (!first.empty())
      put(result, static_cast<std::uint32_t>(slots_.size()), static_cast<std::uint64_t>(first.back()) << (word_bits + 2),
          key_bytes, {});
    result.prob_bins.assign(table.prob_bins().begin(), table.prob_bins().end());
    result.backoff_bins.assign(table.backoff_bins().begin(), table.backoff_bins().end());
    return result;
  }

  static void put(NgramArrays& arrays, std::uint32_t slot, std::uint64_t key, std::size_t key_bytes,
                  std::span<const std::uint8_t> values) {
    auto* at = arrays.bytes.data() + slot * arrays.stride;
    std::memcpy(at, &key, key_bytes);
    std::ranges::copy(values, at + key_bytes);
  }

  const NgramModel& model_;
  const WordPairs* pairs_;
  std::vector<std::uint32_t> slots_;  // of the n-grams of this order that are kept, in the order of the packed table
};

}  // namespace

std::vector<NgramArrays> pack_ngrams(const NgramModel& model, const WordPairs* pairs) {
  if (pairs && (pairs->last.size() != model.n_words() || pairs->first.size() != model.n_words()))
    throw Error("there must be two flags for each word of the language model");
  return Packer(model, pairs).pack();
}

}  // namespace hyperbaton
