#include "rules/rule_runs.hh"

#include <algorithm>
#include <bit>

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

constexpr std::size_t kCountBytes = 4, kLinksBytes = 2;

}  // namespace

RuleCodec::RuleCodec(const RuleSymbols& symbols)
    : source_(symbols.source),
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

void RunWriter::add(BytesView key, std::uint64_t n) {
  const auto shared = to_size(std::ranges::mismatch(key, last_).in1 - key.begin());
  write_varint(shared, bytes_);
  write_varint(key.size() - shared, bytes_);
  write_varint(n, bytes_);
  bytes_.insert(bytes_.end(), key.begin() + static_cast<std::ptrdiff_t>(shared), key.end());
  last_.assign(key.begin(), key.end());
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
