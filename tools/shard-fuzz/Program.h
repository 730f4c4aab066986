//===- Program.h - A random program, apart from its text --------*- C++ -*-===//
//
// What the generator makes and the shrinker splits: a mesh, arguments, ops
// in order, results. An op knows how to write itself for operands of any types,
// so that shapes can change when a failure is made smaller.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_PROGRAM_H
#define SHARDC_TOOLS_SHARD_FUZZ_PROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shardc::fuzz {

struct Type {
  std::string element; ///< as MLIR spells it: "f32", "i1", "ui32"
  std::vector<int64_t> shape;

  int64_t rank() const { return shape.size(); }
  int64_t numElements() const;
  bool isFloat() const;
  /// Bits of the significand, the hidden one too; 0 for integers.
  int precision() const;
  /// Bits of an integer; 0 for floats and booleans.
  int integerBits() const;
  Type with(std::vector<int64_t> newShape) const {
    return {element, std::move(newShape)};
  }
  Type scalar() const { return {element, {}}; }
  /// "tensor<4x3xf32>".
  std::string str() const;
  bool operator==(const Type &) const = default;
};

/// How one dim is cut: over mesh axes by number; sizes where not balanced.
struct DimCut {
  std::vector<int64_t> axes;
  std::vector<int64_t> sizes;
  bool open = false;
};
using Sharding = std::vector<DimCut>;

/// What is known of all elements of a value, before it is computed: enough to
/// say when two ways to compute it give the same bits, and else how far apart
/// they may be. Ways of our own round functions and single products alike; the
/// interpreter's do not.
struct Accuracy {
  static constexpr int kNoGrid = 1 << 20;
  double magnitude = 1; ///< no element is larger
  int grid = kNoGrid;   ///< all elements are multiples of 2^grid
  double error = 0; ///< how far two of our programs may differ; 0: same bits
  double apart = 0; ///< how far any two ways may; `error` at least

  bool hasGrid() const { return grid != kNoGrid; }
};

struct Value {
  Type type;
  Accuracy accuracy;
};

/// An op as text: "$R" its results, "$0", "$1" its operands, "~" a number that
/// no other op has, for the names of what it needs besides.
struct Built {
  std::vector<Type> results;
  std::string text;
  /// The same without communication, where `text` is written for a mesh.
  std::string reference = {};
};
/// Nothing where operands of these types do not fit the op's attributes.
using Builder = std::function<std::optional<Built>(llvm::ArrayRef<Type>)>;

struct Op {
  std::string kind;
  std::vector<int> operands; ///< numbers of values
  std::vector<int> results;  ///< numbers of values
  Builder build;             ///< null for a constraint
  Sharding constraint;
  /// Its text holds sizes of mesh axes.
  bool fixesMesh = false;
  /// Numbers of the nests that it is in, from the outermost.
  std::vector<int> nests = {};
  /// Its text is in a function of its own.
  enum Form { Inline, Call, Composite } form = Inline;
  /// Attributes are operands, where its text has an op that takes them so.
  bool isDynamic = false;
};

/// Ops in a loop or a branch, one behind the other, which give what they gave
/// without it. A loop hands the values that its ops read from iteration to
/// iteration, two of one type in turns, and runs an odd number of times; a
/// branch may have nothing but zeros on its other side.
struct Nest {
  enum Kind { Loop, Branch } kind = Loop;
  int control = 0;     ///< a scalar argument: i32 of a loop, i1 of a branch
  bool swaps = false;  ///< a loop
  bool isBoth = false; ///< a branch: the same ops on both sides
};

struct Argument {
  int value = 0;
  std::optional<Sharding> sharding;
};

struct Program {
  uint64_t seed = 0; ///< of the arguments' elements
  std::vector<std::string> axisNames;
  std::vector<int64_t> axisSizes;
  /// Where not empty, axis i is a part of axis `axisOf[i]` of the mesh, parts
  /// of one axis from major to minor, and the text is Shardy's.
  std::vector<int64_t> axisOf;
  std::vector<Value> values;
  std::vector<Argument> arguments, results;
  std::vector<Op> ops;
  std::vector<Nest> nests;
  /// Dims may have no elements; else infer() is for those that have.
  bool mayBeEmpty = false;

  int64_t numRanks() const;
  /// True if a sharding leaves shards of different sizes.
  bool isUneven() const;
  /// Computes the types of all values anew from those of the arguments. False
  /// where an op does not fit.
  bool infer();
  /// Takes out ops and arguments that no result needs.
  void dropUnused();
  /// MLIR text; `unsharded`: what one rank is to run. Requires that infer()
  /// has returned true.
  std::string text(bool unsharded = false) const;
};

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_PROGRAM_H
