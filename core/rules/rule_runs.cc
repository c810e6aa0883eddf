#include "rules/rule_runs.hh"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/errors.hh"
#include "base/varint.hh"

namespace hyperbaton {

namespace {

std::vector<WordId> words_by_rank(const ByteOrder& order) {
  std::vector<WordId> words(order.ranks.size() + 1, kUnknownWord);
  for (std::size_t word = 0; word < order.ranks.size(); ++word) words[order.ranks[word]] = static_cast<WordId>(word);
  return words;
}

std::size_t byte_width(std::uint64_t largest) {
  return largest < 1u << 8 ? 1 : largest < 1u << 16 ? 2 : largest < 1u << 24 ? 3 : 4;
}

void write_big_endian(std::uint32_t value, std::size_t width, Bytes& bytes) {
  for (std::size_t i = width; i-- > 0;) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint32_t read_big_endian(BytesView bytes, std::size_t at, std::size_t width) {
  if (at + width > bytes.size()) throw_damaged("a rule is truncated");
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = value << 8 | bytes[at + i];
  return value;
}

constexpr std::size_t kCountBytes = 4, kLinksBytes = 2, kIndexBytes = 4;
constexpr std::size_t kBlockBytes = 1 << 12;

}  // namespace

KeyPrefix prefix_of(BytesView key) {
  KeyPrefix prefix{};
  std::memcpy(prefix.data(), key.data(), std::min(sizeof prefix, key.size()));
  if constexpr (std::endian::native == std::endian::little)
    for (auto& word : prefix) word = __builtin_bswap64(word);
  return prefix;
}

int compare_keys(BytesView x, BytesView y) {
  const auto n = std::min(x.size(), y.size());
  const int c = n == 0 ? 0 : std::memcmp(x.data(), y.data(), n);  // there may be no data
  return c != 0 || x.size() == y.size() ? c : x.size() < y.size() ? -1 : 1;
}

RuleCodec::RuleCodec(const RuleSymbols& symbols)
    : source_(symbols.moses.source),
      target_(symbols.target),
      source_words_(words_by_rank(source_)),
      target_words_(words_by_rank(target_)),
      width_(byte_width(std::max(source_.ranks.size(), target_.ranks.size()))) {}

void RuleCodec::write_rank(std::uint32_t rank, Bytes& key) const { write_big_endian(rank, width_, key); }

std::uint32_t RuleCodec::rank_at(BytesView key, std::size_t at) const { return read_big_endian(key, at, width_); }

std::size_t RuleCodec::side_size(BytesView key, std::size_t at, std::uint32_t terminator) const {
  while (rank_at(key, at) != terminator) at += width_;
  return at + width_;
}

void RuleCodec::encode(const RuleView& rule, Bytes& key) const {
  for (const auto symbol : rule.source) write_rank(source_.ranks[symbol], key);
  write_rank(source_.terminator, key);
  for (const auto symbol : rule.target) write_rank(target_.ranks[symbol], key);
  write_rank(target_.terminator, key);
  write_big_endian(static_cast<std::uint32_t>(rule.links.size()), kLinksBytes, key);
  for (const auto link : rule.links) {
    key.push_back(link.target);
    key.push_back(link.source);
  }
}

void RuleCodec::encode_count(float count, Bytes& key) const {
  write_big_endian(std::bit_cast<std::uint32_t>(count), kCountBytes, key);
}

void RuleCodec::decode(BytesView key, Decoded& rule) const {
  std::size_t at = 0;
  const auto read_side = [&](const std::vector<WordId>& words, std::uint32_t terminator, std::vector<WordId>& symbols) {
    symbols.clear();
    for (std::uint32_t rank; (rank = rank_at(key, at)) != terminator; at += width_) {
      if (rank >= words.size()) throw_damaged("a rule has an unknown symbol");
      symbols.push_back(words[rank]);
    }
    at += width_;
  };
  read_side(source_words_, source_.terminator, rule.source);
  read_side(target_words_, target_.terminator, rule.target);
  const std::size_t n_links = read_big_endian(key, at, kLinksBytes);
  at += kLinksBytes;
  if (key.size() != at + 2 * n_links + kCountBytes) throw_damaged("a rule has the wrong size");
  rule.links.clear();
  for (std::size_t k = 0; k < n_links; ++k, at += 2) rule.links.push_back({key[at + 1], key[at]});
  rule.count = std::bit_cast<float>(read_big_endian(key, at, kCountBytes));
}

std::size_t KeyWriter::shared(BytesView key) const { return to_size(std::ranges::mismatch(key, last_).in1 - key.begin()); }

void KeyWriter::add(BytesView key, std::uint64_t n) {
  const auto same = shared(key);
  write_varint(same, bytes);
  write_varint(key.size() - same, bytes);
  write_varint(n, bytes);
  bytes.insert(bytes.end(), key.begin() + static_cast<std::ptrdiff_t>(same), key.end());
  last_.assign(key.begin(), key.end());
}

void RunWriter::add(BytesView key, std::uint64_t n) {
  if (keys_.bytes.size() - begin_ >= kBlockBytes && keys_.shared(key) < codec_.source_size(key)) end_block();
  if (keys_.bytes.size() == begin_) {
    const auto source = key.first(codec_.source_size(key));
    source_.assign(source.begin(), source.end());
  }
  keys_.add(key, n);
}

void RunWriter::end_block() {
  if (keys_.bytes.size() == begin_) return;
  index_.add(source_, keys_.bytes.size() - begin_);
  keys_.restart();
  begin_ = keys_.bytes.size();
}

Bytes RunWriter::take() {
  end_block();
  auto run = std::move(keys_.bytes);
  run.insert(run.end(), index_.bytes.begin(), index_.bytes.end());
  write_big_endian(static_cast<std::uint32_t>(index_.bytes.size()), kIndexBytes, run);
  return run;
}

RunView::RunView(BytesView run) {
  if (run.size() < kIndexBytes) throw_damaged("a run of rules is truncated");
  const auto rest = run.first(run.size() - kIndexBytes);
  const std::size_t size = read_big_endian(run, rest.size(), kIndexBytes);
  if (size > rest.size()) throw_damaged("a run of rules is truncated");
  keys = rest.first(rest.size() - size);
  index = rest.last(size);
}

bool RunReader::next() {
  if (rest_.empty()) return false;
  const auto shared = read_varint(rest_), n_new = read_varint(rest_);
  n_ = read_varint(rest_);
  if (shared > key_.size() || n_new > rest_.size()) throw_damaged("a run of rules is truncated");
  key_.resize(shared);
  key_.insert(key_.end(), rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(n_new));
  rest_ = rest_.subspan(n_new);
  return true;
}

}  // namespace hyperbaton
