//===- Formula.h - How a table follows from what is bound -------*- C++ -*-===//
//
// Where the sizes of shards are known only when a program is bound, the tables
// that the compiler writes are formulas: of the boundaries in which arguments
// arrive. A formula says for every coordinate along some mesh axes at once what
// is there, so it does not grow with the number of ranks. It is built of
// the same functions that compute a table from numbers (Boundaries, IndexMap),
// and binding evaluates it with these.
//
//     given [0, 0, 16]                          [0, 10, 16]
//     affine [1, 0, 2, 8] (given ...)           [0, 5, 8]       every second
//     shards [0] (affine ...)                   0:5, 5:8        along axis 0
//     positions [-1, 1, 1] (shards ..., same [0, 3])
//                                               -1:6, 4:9       a window of 3
//     size (positions ...)                      7, 5
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_FORMULA_H
#define SHARDC_LAYOUT_FORMULA_H

#include "shardc/Layout/Extents.h"
#include "shardc/Layout/Interval.h"
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardc {

/// The numbers and operands of each kind are those of the function of Formula
/// that has its name. Numbered for artifacts: new ones come last.
enum class FormulaKind : int64_t {
  // Boundaries: k + 1 indices.
  Given = 0,
  Fixed = 1,
  Affine = 2,
  Coarsen = 3,
  Refine = 4,
  // Intervals: one for each coordinate along some axes.
  Shards = 5,
  Same = 6,
  Positions = 7,
  Elements = 8,
  Kept = 9,
  // Numbers: one for each coordinate along some axes.
  Begin = 10,
  Size = 11,
  Offset = 12,
  Below = 13,
  Above = 14,
  Phase = 15,
  Rotate = 16, ///< intervals
  // Boundaries again.
  Whole = 17,
  // Boundaries over axes whose sizes are known only when a program is bound.
  Balanced = 18,
  Ranks = 19,
  Blocks = 20,
  // Intervals of boundaries whose extent is one of these numbers.
  Domain = 21,
  Longest = 22
};
/// "given", "affine" ...; empty for none of them.
std::string_view formulaName(FormulaKind kind);
std::optional<FormulaKind> formulaKind(std::string_view name);

/// How many shards a dim is cut into: a number times the sizes of mesh axes
/// that are known only when a program is bound. It converts to the number of
/// one binding, by which costs are estimated.
class ShardCount {
public:
  ShardCount(int64_t value = 1) : value(value), number(value) {}
  /// `number` times the sizes of `axes`, whose product is `size` in that
  /// binding.
  static ShardCount along(int64_t number, std::vector<int64_t> axes,
                          int64_t size);
  operator int64_t() const { return value; }
  /// True if it differs by binding.
  bool isOpen() const { return !axes.empty(); }
  /// As a formula says it: the number, unless it is 1 and there are others, and
  /// ~axis for each axis.
  std::vector<int64_t> factors() const;

private:
  int64_t value, number;
  std::vector<int64_t> axes;
};

class Formula {
public:
  /// None: the table is known as numbers.
  Formula() = default;
  explicit operator bool() const { return bool(node); }

  /// A formula as it stands, without simplification; none where numbers and
  /// operands do not fit the kind.
  static Formula make(FormulaKind kind, std::vector<int64_t> numbers,
                      std::vector<Formula> operands);

  // Boundaries.

  /// In which dim `dim`, of `size` elements, of argument `argument` arrives; as
  /// many shards as `factors` say, where that differs by binding.
  static Formula given(int64_t argument, int64_t dim, int64_t size,
                       std::vector<int64_t> factors = {});
  /// These indices.
  static Formula fixed(std::vector<int64_t> indices);
  /// Each inner index b becomes ceil((multiplier * b + addend) / divisor),
  /// clamped to 0 ... size; the first is 0, the last `size`. Requires
  /// multiplier and divisor >= 1.
  static Formula affine(Formula boundaries, int64_t multiplier, int64_t addend,
                        int64_t divisor, int64_t size);
  /// One shard of `size` elements, which an open extent says.
  static Formula whole(int64_t size);
  /// As Boundaries::coarsen, refine and balanced.
  static Formula coarsen(Formula boundaries, const ShardCount &step);
  static Formula refine(Formula boundaries, const ShardCount &parts);
  static Formula balanced(int64_t size, const ShardCount &shards);
  /// One element a shard.
  static Formula ranks(const ShardCount &shards);
  /// Shards side by side, each as long as the longest of `boundaries`.
  static Formula blocks(Formula boundaries);

  // Intervals.

  /// One shard for each coordinate along `axes`, row-major.
  static Formula shards(Formula boundaries, std::vector<int64_t> axes);
  /// The same at every coordinate.
  static Formula same(Interval interval);
  /// At every coordinate all that `boundaries` cut, or as much as the longest
  /// shard, from 0 on.
  static Formula domain(Formula boundaries);
  static Formula longest(Formula boundaries);
  /// offset + the sum of coefficient i times what is in interval i: the hull.
  /// {offset, offset} where one of them is empty.
  static Formula positions(int64_t offset, std::vector<int64_t> coefficients,
                           std::vector<Formula> intervals);
  /// As elementsAt.
  static Formula elements(Formula positions, int64_t baseDilation);
  /// What is in both; where that is nothing, nothing from the begin of `owned`.
  static Formula kept(Formula owned, Formula needed);

  /// At each coordinate what stands `shift` places further on along `places`,
  /// which are axes of `intervals`, and round at their end.
  static Formula rotate(Formula intervals, int64_t shift,
                        std::vector<int64_t> places);

  // Numbers.

  static Formula begin(Formula intervals);
  static Formula size(Formula intervals);
  /// From the begin of `outer` to that of `kept`; 0 where `kept` is empty.
  static Formula offset(Formula kept, Formula outer);
  /// Of `needed`, how much is before and behind `kept`; all of it before
  /// where `kept` is empty.
  static Formula below(Formula kept, Formula needed);
  static Formula above(Formula kept, Formula needed);
  /// How far the first of `positions` that an element is at is from their
  /// begin.
  static Formula phase(Formula positions, int64_t baseDilation);

  FormulaKind kind() const { return node->kind; }
  const std::vector<int64_t> &numbers() const { return node->numbers; }
  const std::vector<Formula> &operands() const { return node->operands; }
  bool isBoundaries() const;
  bool isIntervals() const;
  /// The number of elements that boundaries cut; the most, where it differs by
  /// binding.
  int64_t extent() const;
  /// How many shards boundaries have, as factors; none where that is one number
  /// that formulas do not say.
  std::vector<int64_t> factors() const;
  /// The least and the greatest number that can be in it, whatever is
  /// bound; of intervals the least begin and the greatest end.
  std::pair<int64_t, int64_t> range() const;
  /// True if it follows from what is bound; else its tables are numbers.
  bool isOpen() const { return node && node->isOpen; }

  /// The same formula: then its tables are equal whatever is bound.
  friend bool operator==(const Formula &a, const Formula &b);

private:
  struct Node {
    FormulaKind kind;
    std::vector<int64_t> numbers;
    std::vector<Formula> operands;
    bool isOpen;
  };
  std::shared_ptr<const Node> node;
};

/// True if the intervals `outer` contain those of `inner`, whatever is bound,
/// as far as formulas show it: a whole dim, or a window around each element.
bool alwaysContains(const Formula &outer, const Formula &inner);
/// The least intervals that contain both; none where formulas do not show them.
Formula hullOf(const Formula &a, const Formula &b);

/// What a formula says for one binding. Boundaries have `indices`; intervals
/// and numbers have one entry for each coordinate along `axes`.
struct BoundTable {
  std::vector<int64_t> indices;
  std::vector<int64_t> axes;
  std::vector<Interval> intervals;
  std::vector<int64_t> numbers;
};

/// What is known when a program is bound.
struct Binding {
  std::vector<int64_t> meshShape;
  /// The boundaries in which a dim of an argument arrives, by (argument, dim).
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> given;
  /// The open extents that numbers of formulas follow from, and what these are;
  /// without the latter, placeholders are taken for what they stand for.
  Extents extents = {};
  std::vector<int64_t> values = {};
};

/// Many formulas that share parts: each part is stored once, behind those that
/// it is made of.
class FormulaList {
public:
  /// The number of `formula`; adds it where it is new.
  int64_t add(const Formula &formula);
  int64_t size() const { return static_cast<int64_t>(formulas.size()); }
  const Formula &operator[](int64_t number) const { return formulas[number]; }
  /// One table for each formula; or, in `error`, what cannot be.
  std::vector<BoundTable> evaluate(const Binding &binding,
                                   std::string &error) const;

  /// As words: for each formula its kind, the number of its numbers, these, the
  /// number of its operands, and the numbers of these.
  void append(std::vector<int64_t> &words) const;
  /// Reads `count` formulas from `words` on, of which it takes those that it
  /// reads; or an error. Checks everything that evaluate relies on.
  std::string read(std::span<const int64_t> &words, int64_t count,
                   int64_t numAxes);

private:
  std::vector<Formula> formulas;
  std::map<std::vector<int64_t>, int64_t> known; ///< by words
};

/// `table` with an entry for each coordinate along `axes`. Requires that its
/// own axes are among them.
BoundTable expandTable(const BoundTable &table, std::span<const int64_t> axes,
                       std::span<const int64_t> meshShape);

} // namespace shardc

#endif // SHARDC_LAYOUT_FORMULA_H
