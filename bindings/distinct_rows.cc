#include <algorithm>
#include <cstring>

#include "decode/interner.hh"
#include "module.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(distinct_rows) {
  using namespace nb::literals;

  m.def(
      "distinct",
      [](const Words& numbers) {
        U64Map seen;
        std::vector<std::uint32_t> distinct, places(numbers.size());
        for (const auto number : view(numbers))
          if (!seen.find_or_add(number).second) distinct.push_back(number);
        std::ranges::sort(distinct);
        for (std::size_t i = 0; i < distinct.size(); ++i)
          *seen.find_or_add(distinct[i]).first = static_cast<std::uint32_t>(i);
        std::ranges::transform(view(numbers), places.begin(), [&](auto number) { return *seen.find(number); });
        return arrays(std::move(distinct), std::move(places));
      },
      "numbers"_a, "The distinct numbers in increasing order, and the index of each number among them; in linear time.");

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
