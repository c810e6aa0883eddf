// Prints hashes of what kernels of the core compute, to be compared between processors:
//
//   FILES="benchmarks/processors/bits.cc $(ls core/align/*.cc core/learn/*.cc core/lm/kneser_ney.cc | grep -v _test)"
//   g++ -std=c++20 -O3 -ffp-contract=off -Icore $FILES -o bits -pthread && ./bits
//   aarch64-linux-gnu-g++ -std=c++20 -O3 -ffp-contract=off -static -Icore $FILES -o bits.arm64 -pthread && qemu-aarch64
//   ./bits.arm64
#include <cstdio>
#include <cstring>

#include "align/aligner.hh"
#include "base/math.hh"
#include "learn/dual_eg.hh"
#include "learn/lbfgs.hh"
#include "learn/random.hh"
#include "learn/svm.hh"

using namespace hyperbaton;

namespace {

template <class T>
void print(const char* name, const std::vector<T>& values) {
  std::uint64_t hash = values.size();
  for (const T& value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    hash = combine(hash, bits);
  }
  std::printf("%-16s %8zu values  %016llx\n", name, values.size(), static_cast<unsigned long long>(hash));
}

double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

void functions() {
  Random random(1);
  std::vector<double> exps, logs;
  for (int i = 0; i < 300000; ++i) {
    exps.push_back(math::exp(1400 * uniform(random) - 700));
    logs.push_back(math::log(math::exp(200 * uniform(random) - 100)));
    logs.push_back(math::log1p(uniform(random)));
  }
  print("exp", exps);
  print("log, log1p", logs);
}

void align() {
  Random random(2);
  std::vector<WordId> source, target;
  std::vector<std::int64_t> source_offsets{0}, target_offsets{0};
  for (int s = 0; s < 400; ++s) {
    const std::size_t n = 2 + random.below(18);
    for (std::size_t i = 0; i < n; ++i) {
      const auto word = static_cast<WordId>(random.below(40) * random.below(10));
      source.push_back(word);
      if (random.below(10) > 0) target.push_back((word * 7 + static_cast<WordId>(random.below(3))) % 400);
    }
    if (target.size() == static_cast<std::size_t>(target_offsets.back())) target.push_back(0);
    source_offsets.push_back(static_cast<std::int64_t>(source.size()));
    target_offsets.push_back(static_cast<std::int64_t>(target.size()));
  }
  const BitextView bitext{{source, source_offsets}, {target, target_offsets}};
  AlignerTraining training(bitext, 400, 400, {0.2F, 1.0F, 0.5F, 100}, {}, 1);
  std::vector<double> logprobs;
  for (int round = 0; round < 10; ++round) {
    training.count(round >= 5, {});
    for (const double logprob : training.renew(round >= 5)) logprobs.push_back(logprob);
  }
  print("align: logprobs", logprobs);
  const auto links = link_posteriors(training.model(), bitext, 0.1F, 1, {});
  print("align: posterior", links.values);
}

void learn() {
  Random random(3);
  constexpr std::size_t kRows = 3000, kFeatures = 300, kClasses = 4;
  std::vector<std::int64_t> starts{0};
  std::vector<FeatureId> indices;
  std::vector<double> values;
  std::vector<Label> labels;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t f = random.below(20); f < kFeatures; f += 1 + random.below(40)) {
      indices.push_back(static_cast<FeatureId>(f));
      values.push_back(2 * uniform(random) - 0.5);
    }
    starts.push_back(static_cast<std::int64_t>(indices.size()));
    labels.push_back(static_cast<Label>((indices.back() / 80 + (random.below(4) == 0)) % kClasses));
  }
  Rows rows(kFeatures, {true, true});
  rows.add({starts, indices, values.data()});
  const Problem problem{rows, labels, kClasses, {}, 5, 1, {}, nullptr};
  print("lbfgs", train(lbfgs_trainer({1.0, {10, 60, 1e-8, 0}}), problem).weights);
  print("dual_eg", train(dual_eg_trainer({1.0, 1e-3, 0, true, 10, 1, 30, true, false, {}}), problem).weights);
  print("svm", train(one_vs_rest_trainer({1.0, 60, 1e-4}), problem).weights);
}

}  // namespace

int main() {
  functions();
  align();
  learn();
}
