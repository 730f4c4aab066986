//===- Extents.h - Extents known at binding ---------------------*- C++ -*-===//
//
// A dim whose extent is a symbol has, while the program is compiled, a
// placeholder for one: a prime that occurs nowhere else in the program. What is
// computed of extents is kept as it is computed, beside the placeholder that
// comes out. So a number of the compiled program that is a multiple of a
// placeholder, or next to one, says which extent it follows from, and binding
// puts what that is in its place.
//
//     %n = dim 0 of argument 0        231947
//     %h = divide %n by 2             115973
//     a window of 3 over h begins at  115973 - 3
//
// Numbers that follow from no extent are what they are.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LAYOUT_EXTENTS_H
#define SHARDC_LAYOUT_EXTENTS_H

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardc {

/// How an extent is computed. Divisions round to zero, comparisons give 0 or 1.
/// Numbered for artifacts: new ones come last.
enum class ExtentKind : int64_t {
  Dim = 0,      ///< of an argument: its number, and the dim
  Constant = 1, ///< a number
  Add = 2,
  Subtract = 3,
  Multiply = 4,
  Divide = 5,
  Remainder = 6,
  Max = 7,
  Min = 8,
  Negate = 9,
  Abs = 10,
  Sign = 11,
  And = 12,
  Or = 13,
  Xor = 14,
  Equal = 15,
  NotEqual = 16,
  Less = 17,
  LessEqual = 18,
  Select = 19 ///< where the first is not 0 the second, else the third
};
std::string_view extentName(ExtentKind kind);
std::optional<ExtentKind> extentKind(std::string_view name);

/// A number computed from extents of arguments.
struct ExtentExpr {
  ExtentKind kind;
  /// Of a dim and a constant numbers, else earlier extents.
  std::vector<int64_t> operands;
  /// What stands for it in the compiled program.
  int64_t placeholder = 0;
};

/// coefficient * extent + constant
struct LinearExtent {
  int64_t extent = -1;
  int64_t coefficient = 0;
  int64_t constant = 0;
};

/// What a program asks of extents: that one is not 0.
struct ExtentCondition {
  int64_t extent = 0;
  /// Says what is wrong where it is 0; `{0}` is the first of `shown`.
  std::string message;
  std::vector<int64_t> shown;
};

class Extents {
public:
  /// The least placeholder that can be distinguished from other numbers.
  static constexpr int64_t least = 2048;

  bool empty() const { return extents.empty(); }
  int64_t size() const { return static_cast<int64_t>(extents.size()); }
  const ExtentExpr &operator[](int64_t number) const { return extents[number]; }

  /// Dim `dim` of argument `argument`; the placeholder is the caller's.
  int64_t addDim(int64_t argument, int64_t dim, int64_t placeholder);
  int64_t addConstant(int64_t value);
  /// What `kind` makes of earlier extents; none for a division by zero, and for
  /// numbers that overflow.
  std::optional<int64_t> add(ExtentKind kind, std::vector<int64_t> operands);
  bool isConstant(int64_t number) const;

  std::vector<ExtentCondition> conditions;

  /// What `number`, of a compiled program, follows from; none where it is what
  /// it is.
  std::optional<LinearExtent> find(int64_t number) const;
  bool isOpen(int64_t number) const { return find(number).has_value(); }
  /// All that it could follow from. Beside an odd placeholder n of two halves
  /// h = n / 2 the number n - 1 is 2 h as well: `find` takes one of them.
  std::vector<LinearExtent> readings(int64_t number) const;

  /// All extents, where dims of arguments, by (argument, dim), have these; or,
  /// in `error`, what cannot be, or the condition that does not hold.
  std::vector<int64_t>
  evaluate(const std::map<std::pair<int64_t, int64_t>, int64_t> &dims,
           std::string &error) const;
  /// `number` in the binding whose extents are `values`.
  int64_t resolve(int64_t number, std::span<const int64_t> values) const;

  /// As words: their count, then for each its kind, placeholder, the number of
  /// its operands, and these; then the conditions.
  std::vector<int64_t> words() const;
  /// Reads words that nobody vouches for; an empty string, or what is wrong.
  std::string read(std::span<const int64_t> &words);

private:
  std::optional<int64_t> valueOf(const ExtentExpr &extent,
                                 std::span<const int64_t> values) const;
  std::vector<ExtentExpr> extents;
};

} // namespace shardc

#endif // SHARDC_LAYOUT_EXTENTS_H
