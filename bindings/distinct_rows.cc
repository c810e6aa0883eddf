#include <algorithm>
#include <cstring>

#include "decode/interner.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

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

HYPERBATON_BINDINGS(distinct_rows) {
  using namespace nb::literals;

  m.def(
      "distinct",
      [](const Array<std::uint32_t>& numbers) {
        auto [distinct, places] = distinct_of(view(numbers));
        return nb::make_tuple(to_numpy(std::move(distinct)), to_numpy(std::move(places)));
      },
      "numbers"_a, "The distinct numbers in increasing order, and the index of each number among them; in linear time.");

  m.def(
      "spell",
      [](const Array<std::uint32_t>& numbers, const Spelling& known, const Spelling& added) {
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
