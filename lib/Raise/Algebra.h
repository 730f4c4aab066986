//===- Algebra.h - What a score is, whichever way it is written -*- C++ -*-===//
//
// A tensor whose dims are known as iteration dims is a function of these: an
// expression. Broadcasts, transposes and reshapes are nothing, and what is left
// is put into a normal form: a polynomial over terms, with whole powers. Two
// spellings of one computation (the maximum subtracted or not, divided
// before or after, a gradient in any order) have one normal form:
//
//     exp(s - m) / sum_k exp(s - m)  =  Exp[s] * Sum_k[Exp[s]]^-1
//
// Rounding is ignored, as is what happens where a term is infinite.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RAISE_ALGEBRA_H
#define SHARDC_LIB_RAISE_ALGEBRA_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <vector>

namespace shardc::raise {

/// Each dim of a tensor as iteration dims, major to minor; none: one element.
using Layout = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 6>;
/// A set of iteration dims.
using DimSet = uint64_t;

using TermId = unsigned;
using PolyId = unsigned;

/// From here on, iteration dims are those that a contraction sums over; from
/// the second on, those of sums that are being read.
inline constexpr unsigned kFirstBoundDim = 48, kFirstOpenDim = 56;

struct Monomial {
  double coefficient = 1;
  /// Terms and their powers, ascending by term, no power zero.
  std::vector<std::pair<TermId, int>> factors;
};
/// Ascending by factors, no coefficient zero.
using Poly = std::vector<Monomial>;

enum class TermKind {
  Leaf,     ///< an element of a tensor
  Position, ///< the index along a dim
  Dot,      ///< a sum of products over dims of their own
  PairSum,  ///< a sum over such a dim of anything, as it is written
  Exp,
  Log,     ///< of a polynomial
  Inverse, ///< of a polynomial of several monomials
  Total,   ///< a polynomial that is a sum of blocks' sums
  SumOverKey,
  MaxOverKey, ///< of blocks: over the dim `dim`
  Function    ///< any other elementwise op
};

struct Term {
  explicit Term(TermKind kind) : kind(kind) {}

  TermKind kind;
  DimSet dims = 0;
  bool isBool = false;
  /// Leaf, Dot: the numbers of the tensors, and their layouts. SumOverKey, of
  /// blocks: the number of the set of blocks.
  llvm::SmallVector<unsigned, 2> values;
  llvm::SmallVector<Layout, 2> layouts;
  /// Position: the dim. Of blocks, `values` say which block it is in.
  unsigned dim = 0;
  llvm::SmallVector<PolyId, 3> arguments;
  /// Function: what to do, and the element types it is done on.
  mlir::StringAttr name;
  mlir::DictionaryAttr attributes;
  llvm::SmallVector<mlir::Type, 3> argumentTypes;
  mlir::Type type;
  /// A tensor that holds the term, and its layout: not part of what it is.
  mlir::Value tensor;
  Layout tensorLayout;
};

/// A number for each rank.
using RankTable = std::vector<int64_t>;
/// True for what stands for any block: see BlockSums.cpp.
inline bool isMark(const RankTable &table) {
  return !table.empty() && table.front() < 0;
}

/// Whose blocks leaves and positions are of, by rank.
class BlockTables {
public:
  virtual ~BlockTables() = default;
  /// Null if all ranks have the same elements.
  virtual const RankTable *blockOf(const Term &term) const = 0;
  /// `term`, a leaf or a position, of the blocks that `table` says.
  virtual PolyId inBlock(const Term &term, const RankTable &table) = 0;
  /// `table` as the ranks have it that the table with number `move` says.
  virtual RankTable moved(const RankTable &table, unsigned move) const = 0;
};

/// Makes polynomials and terms; equal ones have one number.
class Algebra {
public:
  /// Sums run over `keyDims`, of `keySize` elements.
  Algebra(DimSet keyDims, double keySize)
      : keyDims(keyDims), keySize(keySize) {}

  PolyId number(double value);
  PolyId term(Term term);
  PolyId add(PolyId lhs, PolyId rhs, double rhsFactor = 1);
  PolyId multiply(PolyId lhs, PolyId rhs);
  PolyId scale(PolyId poly, double by);
  PolyId invert(PolyId poly);
  PolyId exponential(PolyId poly);
  PolyId logarithm(PolyId poly);
  PolyId sumOverKey(PolyId poly);
  PolyId maxOverKey(PolyId poly);

  /// Sums over any dim that is given, not over keys alone: what a row is
  /// shifted and divided by comes out of exponentials by what it is made of,
  /// and sums of blocks that are divided by, or whose logarithm is taken,
  /// become one term.
  bool ofBlocks = false;
  /// Sums that differ by whose blocks they are of are one sum over several
  /// blocks, where this says which those are: see BlockSums.cpp.
  BlockTables *blockTables = nullptr;
  /// `set`: of a sum over several blocks, or of one, `poly` holds what they
  /// have in common.
  PolyId sumOver(unsigned dim, double size, PolyId poly,
                 std::optional<unsigned> set = std::nullopt);
  PolyId maxOver(unsigned dim, PolyId poly);
  /// The larger of `poly`, which is a statistic, and zero. Largest of two and
  /// absolute values are written with it.
  PolyId positivePart(PolyId poly, mlir::MLIRContext *context);
  /// `poly` as a product of terms, if it is a sum of blocks' sums of
  /// exponentials times something.
  PolyId total(PolyId poly);
  /// `poly` with the terms that `replace` knows replaced, inside of terms too.
  PolyId rebuild(PolyId poly,
                 llvm::function_ref<std::optional<PolyId>(TermId)> replace) {
    std::map<TermId, PolyId> done;
    return rebuild(poly, replace, done);
  }
  /// The same; sums over several blocks are over those that the ranks of
  /// `blockTables`' table `move` have.
  PolyId rebuild(PolyId poly,
                 llvm::function_ref<std::optional<PolyId>(TermId)> replace,
                 unsigned move) {
    std::map<TermId, PolyId> done;
    return rebuild(poly, replace, done, move);
  }
  /// The sums of one block each that the sum `id` is, which are no different
  /// if it is of one.
  llvm::SmallVector<TermId> blocksOf(TermId id);
  bool isOfSeveralBlocks(TermId id) const {
    return terms[id].kind == TermKind::SumOverKey &&
           !terms[id].values.empty() &&
           blockSets[terms[id].values[0]].size() > 1;
  }
  /// What the sum of one block sums over `dim`.
  PolyId bodyOf(TermId id, unsigned dim);
  /// `poly` with dim `from` named `to`, which it does not have.
  PolyId rename(PolyId poly, unsigned from, unsigned to);
  /// True if the term comes of maxima, or of sums of exponentials.
  bool isStatistic(TermId id) const;

  const Poly &get(PolyId id) const { return polys[id]; }
  const Term &getTerm(TermId id) const { return terms[id]; }
  Term &editTerm(TermId id) { return terms[id]; }
  PolyId intern(Poly poly);
  PolyId ofTerm(TermId id, int power = 1) {
    return intern({{1.0, {{id, power}}}});
  }

  DimSet dimsOf(const Monomial &monomial) const;
  DimSet dimsOf(PolyId poly) const;
  /// The value of a polynomial without terms.
  std::optional<double> constantOf(PolyId poly) const;
  /// The term that a polynomial is, if it is one.
  std::optional<TermId> singleTerm(PolyId poly) const;
  /// The power of `term` in `monomial`.
  static int powerOf(const Monomial &monomial, TermId term);
  /// The conditions outside of which the exponential, or the sum of such, `id`
  /// is zero, as what is -inf in its score says; `refuted` are those inside of
  /// which it is.
  struct Conditions {
    std::vector<TermId> implied, refuted;
  };
  const Conditions &conditionsOf(TermId id) const;
  /// `monomial` times `term` to the power. Conditions that an exponential in it
  /// implies are left out.
  Monomial times(Monomial monomial, TermId term, int power) const;
  Monomial times(const Monomial &lhs, const Monomial &rhs) const;
  /// All terms in `poly`, those in arguments of terms too.
  void collectTerms(PolyId poly, llvm::SmallVectorImpl<TermId> &found) const;
  /// True if it is a product of exponentials and sums of such.
  bool isPositive(PolyId poly);
  /// Equal but for rounding of coefficients.
  bool isNear(PolyId lhs, PolyId rhs) const;
  bool isKeyDependent(DimSet dims) const { return dims & keyDims; }
  bool tooLarge(PolyId poly) const {
    return polys[poly].size() > (ofBlocks ? 4096 : 64);
  }
  /// True once so much has been computed that a program is not worth more.
  /// What it costs is counted, not timed, so that the same program is always
  /// read alike.
  bool isExhausted() const { return work > kMostWork; }
  /// For people.
  std::string str(PolyId poly) const;

private:
  TermId internTerm(Term term);
  bool hasExponential(const Monomial &monomial) const;
  void addConditions(const Monomial &score, Conditions &found) const;
  bool isStatistic(const Monomial &monomial) const;
  PolyId sumOfBody(unsigned dim, double size, const Monomial &body,
                   std::optional<unsigned> set);
  /// A block: whose leaves' elements, and whose positions, by rank.
  using Block = std::vector<RankTable>;
  unsigned blockNumber(Block block);
  unsigned setNumber(std::vector<unsigned> blocks);
  unsigned movedSet(unsigned set, unsigned move);
  /// Puts marks in the place of whose block the terms along `dim` of `body` are
  /// of; the block. None if they are of no block.
  std::optional<Block> generalize(Monomial &body, unsigned dim);
  /// `poly` with the marks of terms along `dim` replaced by `block`.
  PolyId instantiate(PolyId poly, unsigned dim, const Block &block);
  /// Adds sums of the same over different blocks; false if there are none.
  bool mergeBlocks(Poly &poly);
  bool mergeAlike(Poly &poly, llvm::ArrayRef<std::pair<size_t, TermId>> alike);
  /// Adds the monomials of `part` to `sum`, which is numbered once it has all:
  /// each of several sums under way would be as long.
  void append(PolyId part, Poly &sum) const {
    sum.insert(sum.end(), polys[part].begin(), polys[part].end());
  }
  /// The same, with the terms in `done` replaced as it says; adds others.
  PolyId rebuild(PolyId poly,
                 llvm::function_ref<std::optional<PolyId>(TermId)> replace,
                 std::map<TermId, PolyId> &done,
                 std::optional<unsigned> move = std::nullopt);
  /// Numbers `poly` as it is, blocks that are known as part of a total too.
  PolyId internPlain(Poly poly);
  /// `poly` as a product, whose factors may be such blocks; a total is made
  /// where `mayDefine`.
  std::optional<Monomial> asProduct(PolyId poly, bool mayDefine);
  PolyId expandDefined(const Poly &poly);
  /// From now on, one of `parts`, two that `whole` is the sum of, is the
  /// difference of the others.
  void defineHalves(TermId whole, const Poly &parts);
  bool isExpandable(const Monomial &monomial) const;
  std::optional<PolyId> logarithmOfMerge(PolyId poly);
  /// The sum over `dim` of `body`, all whose factors have it.
  PolyId makeSum(unsigned dim, Monomial body, std::optional<unsigned> set);
  TermId makeSumAsIs(unsigned dim, Monomial body, std::optional<unsigned> set);
  /// How deep sums are in one another in the term.
  unsigned heightOf(TermId id) const;
  PolyId power(PolyId poly, int exponent);

  DimSet keyDims;
  double keySize;
  /// Terms that are written as others: sums of blocks, by their total.
  std::map<TermId, PolyId> defined;
  /// Of those that are one of two parts: whole = mine * block + its * other.
  struct Halves {
    TermId whole, other;
    double mine, its;
  };
  std::map<TermId, Halves> halves;
  /// Terms with one dim named another, by both; as long as `defined` has as
  /// many.
  std::map<std::pair<unsigned, unsigned>,
           std::shared_ptr<std::map<TermId, PolyId>>>
      renamed;
  size_t definedWhenRenamed = 0;
  mutable std::map<TermId, bool> statistics;
  mutable std::map<TermId, unsigned> heights;
  mutable std::map<TermId, Conditions> conditions;
  std::vector<Term> terms;
  std::vector<Poly> polys;
  llvm::StringMap<TermId> termNumbers;
  llvm::StringMap<PolyId> polyNumbers;
  std::vector<Block> blocks;
  std::map<Block, unsigned> blockNumbers;
  /// The number of a block that is moved, by the number of the move and its
  /// own: a set that is moved again has one that was not moved before.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> movedBlocks;
  /// Ascending. Sums over several blocks hold the number of theirs.
  std::vector<std::vector<unsigned>> blockSets;
  std::map<std::vector<unsigned>, unsigned> setNumbers;
  /// Polynomials and monomials that were numbered, a million in some tenths of
  /// a second.
  static constexpr int64_t kMostWork = 2'000'000;
  int64_t work = 0;
};

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_ALGEBRA_H
