//===- Boundaries.h - How a dim is cut into shards --------------*- C++ -*-===//
//
// A partition of a dim of N elements over k shards is its boundaries
// 0 = b0 <= b1 <= ... <= bk = N. Shards may be empty.
//
// Where they are known only when a program is bound, a formula says how they
// follow from what is given then. The indices are those of one binding, by
// which costs are estimated; what holds for all bindings follows from the
// formula.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_BOUNDARIES_H
#define SHARDC_LAYOUT_BOUNDARIES_H

#include "shardc/Layout/Formula.h"
#include "shardc/Layout/Interval.h"
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace shardc {

class Boundaries {
public:
  /// One shard that holds all of a dim of zero elements.
  Boundaries() : bounds{0, 0} {}

  /// Cuts `size` elements into `shards` parts; the first size mod shards hold
  /// one element more. Requires size >= 0 and shards >= 1.
  static Boundaries balanced(int64_t size, const ShardCount &shards);
  /// One shard that holds everything.
  static Boundaries whole(int64_t size) { return balanced(size, 1); }
  /// From the k sizes of the shards; nullopt if there is none, one is negative,
  /// or their sum overflows.
  static std::optional<Boundaries> fromSizes(std::span<const int64_t> sizes);
  /// From k+1 ascending indices that start at 0; nullopt otherwise.
  static std::optional<Boundaries> fromBounds(std::vector<int64_t> bounds);

  int64_t size() const { return bounds.back(); }
  int64_t numShards() const { return static_cast<int64_t>(bounds.size()) - 1; }
  /// The same, as it follows from what is bound.
  ShardCount countShards() const;
  Interval shard(int64_t i) const { return {bounds[i], bounds[i + 1]}; }
  int64_t shardSize(int64_t i) const { return bounds[i + 1] - bounds[i]; }
  int64_t maxShardSize() const;
  /// The size of every shard, if all shards have the same one whatever is
  /// bound.
  std::optional<int64_t> uniformShardSize() const;
  /// True if they are, whatever is bound.
  bool isBalanced() const;
  std::vector<int64_t> sizes() const;
  const std::vector<int64_t> &indices() const { return bounds; }

  /// How they follow from what is bound; none where the indices are all there
  /// is to know.
  const Formula &formula() const { return boundFormula; }
  /// The same indices, of a binding of `formula`.
  Boundaries with(Formula formula) const {
    Boundaries result = *this;
    result.boundFormula = std::move(formula);
    return result;
  }

  /// Merges each run of `step` neighbouring shards into one: the partition over
  /// the major axes alone. Requires step >= 1 to divide numShards().
  Boundaries coarsen(const ShardCount &step) const;
  /// Cuts each shard into `parts` balanced ones: the partition over one more,
  /// minor, axis.
  Boundaries refine(const ShardCount &parts) const;

  /// The same whatever is bound.
  friend bool operator==(const Boundaries &, const Boundaries &) = default;

private:
  explicit Boundaries(std::vector<int64_t> bounds)
      : bounds(std::move(bounds)) {}
  std::vector<int64_t> bounds;
  Formula boundFormula;
};

} // namespace shardc

#endif // SHARDC_LAYOUT_BOUNDARIES_H
