#include "lm/quantize.hh"

#include <algorithm>

namespace hyperbaton {

namespace {

// The means of bins, increasing. Sorts the values.
std::vector<float> make_bins(std::vector<float>& values, std::size_t n_bins) {
  std::sort(values.begin(), values.end());
  std::vector<float> bins;
  for (const float value : values) {
    if (bins.empty() || value != bins.back()) bins.push_back(value);
    if (bins.size() > n_bins) break;
  }
  if (bins.size() <= n_bins) return bins;
  bins.clear();
  for (std::size_t b = 0; b < n_bins; ++b) {
    const auto begin = values.size() * b / n_bins, end = values.size() * (b + 1) / n_bins;
    double sum = 0;
    for (auto i = begin; i < end; ++i) sum += values[i];
    bins.push_back(static_cast<float>(sum / static_cast<double>(end - begin)));
  }
  bins.erase(std::unique(bins.begin(), bins.end()), bins.end());
  return bins;
}

std::uint8_t nearest(const std::vector<float>& bins, float value) {
  auto above = std::lower_bound(bins.begin(), bins.end(), value);
  if (above == bins.end() || (above != bins.begin() && value - *(above - 1) < *above - value)) --above;
  return static_cast<std::uint8_t>(above - bins.begin());
}

}  // namespace

std::vector<NgramArrays> quantize(const NgramModel& model, std::size_t n_bins) {
  if (n_bins < 2 || n_bins > 256) throw Error("values need 2 to 256 bins, not " + std::to_string(n_bins));
  if (model.is_packed())
    throw Error("a packed language model cannot be quantised: quantise the model that it was packed from");
  std::vector<NgramArrays> result;
  for (std::uint32_t n = 1; n <= model.order(); ++n) {
    const auto& table = model.table(n);
    const bool highest = n == model.order(), exact = n == 1;
    std::vector<float> probs, backoffs;
    for (std::uint32_t slot = 0; !exact && slot < table.n_slots(); ++slot) {
      if (table.key(slot) == ngram_key::kEmpty) continue;
      probs.push_back(table.prob(slot));
      if (!highest && table.backoff(slot) != 0) backoffs.push_back(table.backoff(slot));
    }
    auto prob_bins = make_bins(probs, n_bins), backoff_bins = make_bins(backoffs, n_bins - 1);
    backoff_bins.insert(std::lower_bound(backoff_bins.begin(), backoff_bins.end(), 0.0F), 0.0F);
    if (prob_bins.empty()) prob_bins.push_back(0);

    const std::size_t stride = 8 + (highest ? 1 : 2) * (exact ? sizeof(float) : 1);
    NgramArrays arrays{.bytes = std::vector<std::uint8_t>(table.n_slots() * stride, 0xff),
                       .stride = stride,
                       .prob_bins = {},
                       .backoff_bins = {}};
    for (std::uint32_t slot = 0; slot < table.n_slots(); ++slot) {
      auto* at = arrays.bytes.data() + slot * stride;
      const auto key = table.key(slot);
      if (key == ngram_key::kEmpty) continue;
      std::memcpy(at, &key, 8);
      const float prob = table.prob(slot), backoff = highest ? 0 : table.backoff(slot);
      if (exact) {
        std::memcpy(at + 8, &prob, 4);
        if (!highest) std::memcpy(at + 12, &backoff, 4);
      } else {
        at[8] = nearest(prob_bins, prob);
        if (!highest) at[9] = nearest(backoff_bins, backoff);
      }
    }
    if (!exact) {
      prob_bins.resize(256);
      arrays.prob_bins = std::move(prob_bins);
      if (!highest) {
        backoff_bins.resize(256);
        arrays.backoff_bins = std::move(backoff_bins);
      }
    }
    result.push_back(std::move(arrays));
  }
  return result;
}

}  // namespace hyperbaton
