#include <algorithm>
#include <cstring>

#include "base/checksum.hh"
#include "base/interner.hh"
#include "base/math.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

using Values = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <double (*Function)(double)>
void in_place(const Values& values) {
  double* const data = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) data[i] = Function(data[i]);
}

// The distinct numbers in increasing order, and the index of each number among them.
std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> distinct_of(std::span<const std::uint32_t> numbers) {
  U64Map seen;
  std::vector<std::uint32_t> distinct, places(numbers.size());
  for (const auto number : numbers)
    if (!seen.find_or_add(number).second) distinct.push_back(number);
  std::ranges::sort(distinct);
  for (std::size_t i = 0; i < distinct.size(); ++i) *seen.find_or_add(distinct[i]).first = static_cast<std::uint32_t>(i);
  std::ranges::transform(numbers, places.begin(), [&](auto number) { return *seen.find(number); });
  return {std::move(distinct), std::move(places)};
}

}  // namespace

HYPERBATON_BINDINGS(numeric) {
  using namespace nb::literals;

  m.def("exp", &in_place<math::exp>, "values"_a, "Replace each value by its exponential.");
  m.def("log", &in_place<math::log>, "values"_a, "Replace each value by its natural logarithm.");
  m.def("log1p", &in_place<math::log1p>, "values"_a, "Replace each value by log(1 + value).");
  m.def(
      "power",
      [](const Values& values, double exponent) {
        double* const data = values.data();
        for (std::size_t i = 0; i < values.size(); ++i) data[i] = math::pow(data[i], exponent);
      },
      "values"_a, "exponent"_a, "Raise each value to a power.");
  m.def(
      "product",
      [](const Array2<double>& left, const Array2<double>& right) {
        const std::size_t n = left.shape(0), inner = left.shape(1), width = right.shape(1);
        if (right.shape(0) != inner) throw Error("the matrices do not match");
        std::vector<double> sums(n * width, 0.0);
        {
          const nb::gil_scoped_release release;
          for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < inner; ++k) {
              const double factor = left.data()[i * inner + k];
              const double* const row = right.data() + k * width;
              for (std::size_t j = 0; j < width; ++j) sums[i * width + j] += factor * row[j];
            }
        }
        return to_numpy(std::move(sums), std::max<std::size_t>(width, 1));
      },
      "left"_a, "right"_a, "The product of two matrices, each sum in the order of its terms.");
  m.def(
      "sparse_product",
      [](const Array<double>& values, const Array<std::int32_t>& columns, const Ints& offsets,
         const Array<double>& vector) {
        const auto n = static_cast<std::int64_t>(values.size());
        if (offsets.size() == 0 || columns.size() != values.size()) throw Error("the rows do not match");
        std::vector<double> sums(offsets.size() - 1, 0.0);
        {
          const nb::gil_scoped_release release;
          for (std::size_t row = 0; row < sums.size(); ++row) {
            const auto begin = offsets.data()[row], end = offsets.data()[row + 1];
            if (begin < 0 || end > n) throw Error("a row is out of range");
            for (auto i = begin; i < end; ++i) {
              const auto column = static_cast<std::size_t>(columns.data()[i]);
              if (column >= vector.size()) throw Error("a column is out of range");
              sums[row] += values.data()[i] * vector.data()[column];
            }
          }
        }
        return to_numpy(std::move(sums));
      },
      "values"_a, "columns"_a, "offsets"_a, "vector"_a,
      "The product of a matrix of sparse rows and a vector, each sum in the order of its terms.");

  m.def(
      "checksum",
      [](const Bytes& bytes) {
        const nb::gil_scoped_release release;
        return checksum(view(bytes));
      },
      "bytes"_a, "A checksum of 64 bits.");

  m.def(
      "distinct",
      [](const Words& numbers) {
        auto [distinct, places] = distinct_of(view(numbers));
        return arrays(std::move(distinct), std::move(places));
      },
      "numbers"_a, "The distinct numbers in increasing order, and the index of each number among them; in linear time.");

  m.def(
      "spell",
      [](const Words& numbers, const Spelling& known, const Spelling& added) {
        auto [distinct, places] = distinct_of(view(numbers));
        const auto first = known.words(), second = added.words();
        std::vector<std::string_view> words;
        for (const std::size_t number : distinct)
          words.push_back(number < first.size() ? word_of(first, number) : word_of(second, number - first.size()));
        return nb::make_tuple(to_numpy(std::move(places)), to_arrays(words));
      },
      "numbers"_a, "known"_a, "added"_a,
      "Words, given as numbers of a vocabulary and of further words, as numbers of a vocabulary of these words alone.");

  nb::class_<Interner>(m, "DistinctRows", "Numbers the distinct rows of a table, in the order in which they first occur.")
      .def(nb::init<>())
      .def(
          "add",
          [](Interner& self, const Array2<float>& rows) {
            std::vector<std::uint32_t> numbers(rows.shape(0));
            {
              const nb::gil_scoped_release release;
              const std::size_t width = rows.shape(1);
              for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] = self.number(std::span<const float>(rows.data() + i * width, width)).first;
            }
            return to_numpy(std::move(numbers));
          },
          "rows"_a, "The numbers of rows.")
      .def(
          "rows",
          [](const Interner& self, std::size_t width) {
            const auto bytes = self.bytes();
            std::vector<float> values(bytes.size() / sizeof(float));
            std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
            return to_numpy(std::move(values), width);
          },
          "width"_a, "All distinct rows, by number.");
}

}  // namespace hyperbaton::bindings
