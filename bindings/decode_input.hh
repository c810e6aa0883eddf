// The input of a search as held by Python.
#pragma once

#include "decode/space.hh"
#include "decode_features.hh"
#include "decode_options.hh"

namespace hyperbaton::bindings {

// The input of a search, with the objects it refers to.
class BoundInput {
 public:
  using NamedFeatures = std::vector<std::pair<std::string, nb::handle_t<BoundFeature>>>;

  BoundInput(const BoundOptions& options, Ints source_offsets, const NamedFeatures& features, const WallRows& walls,
             const SpanRows& zones, const BoundTokens* forced)
      : source_offsets_(std::move(source_offsets)),
        input_{.options = options.options,
               .source_offsets = view(source_offsets_),
               .features = {},
               .walls = {},
               .zones = {},
               .forced = {}} {
    const std::size_t n = source_offsets_.size() - 1;
    if (options.options.offsets.size() != n + 1) throw Error("options were computed for a different text");
    for (const auto& [name, handle] : features) {
      const auto& feature = nb::cast<const BoundFeature&>(handle);
      feature.check(options.options, input_.source_offsets);
      input_.features.add(name, feature.input());
      features_.push_back(nb::borrow(handle));
    }
    walls_ = walls_of(walls);
    zones_ = spans_of<Zone>(zones);
    input_.walls = walls_;
    input_.zones = zones_;
    if (forced) forced_ = *forced;
    input_.forced = view_forced(forced_ ? &*forced_ : nullptr, n);
  }
  BoundInput(const BoundInput&) = delete;
  BoundInput& operator=(const BoundInput&) = delete;

  const DecodeInput& input() const { return input_; }

 private:
  Ints source_offsets_;
  std::vector<nb::object> features_;
  std::vector<Wall> walls_;
  std::vector<Zone> zones_;
  std::optional<BoundTokens> forced_;
  DecodeInput input_;
};

}  // namespace hyperbaton::bindings
