//===- Match.h - Attention in expressions -----------------------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_MATCH_H
#define SHARDC_LIB_RAISE_MATCH_H

#include "Reader.h"
#include "shardc/Dialect/Pairs/IR/PairsForward.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <memory>

namespace shardc::raise {

/// Iteration dims that no tensor has.
inline constexpr unsigned kFirstFeature = 40, kNoFeature = 44, kNoQuery = 45,
                          kNoDepth = 46;
/// The depth dim: the contracted dim of the scores.
inline constexpr unsigned kDepth = kFirstBoundDim;
inline constexpr TermId kNoTerm = ~0u;

/// A number of each row that all its scores make: their maximum, or the sum of
/// their exponentials times `factor`.
struct RowOutput {
  mlir::Value value;
  Layout layout;
  bool isMax = false;
  Monomial factor;
  /// A maximum is at least this: what masked scores are.
  std::optional<double> least;
};

/// A product of something along queries with something along keys that is
/// added, times `ratio`, to the raw score wherever that is: one contraction
/// over the depths of both.
struct MoreProducts {
  TermId raw = 0;
  double ratio = 1;
  Root query, key;
};

/// Softmax attention, as one contraction of probabilities with values ends it.
/// If it is open, weights are not divided by their sum: the output is the sum
/// of weight * Exp[score] * value, times `factor`, which is the same all along
/// a row.
struct Forward {
  std::unique_ptr<Algebra> algebra;
  std::unique_ptr<Reader> reader;
  stablehlo::DotGeneralOp dot;
  /// What the op's result replaces, and its layout.
  mlir::Value output;
  Layout outputLayout;
  /// Batch dims in the order of the output, then the others.
  llvm::SmallVector<unsigned> batch;
  unsigned query = kNoQuery, key = 0, depth = kNoDepth, feature = kNoFeature;
  Root queryRoot, keyRoot, valueRoot;
  std::vector<MoreProducts> more;
  /// The score and what weighs values (1: the probability itself).
  PolyId score = 0, weight = 0;
  /// The score that the op is to have, and what its sums are of. An open one
  /// takes conditions on its exponentials into its score: -inf where they do
  /// not hold.
  PolyId opScore = 0, rowSum = 0;
  /// Exp[score], the sum over keys that the op gives (kNoTerm if that is no
  /// term), the raw score.
  TermId exp = 0, sum = 0, raw = 0;
  std::optional<int64_t> bandLower, bandUpper;
  /// Nothing besides the band masks scores.
  bool isBandAll = false;
  bool isOpen = false;
  /// A condition on probabilities, not on scores alone, keeps what has none:
  /// rows without a key are zero, not NaN.
  bool emptyIsZero = false;
  Monomial factor;
  std::vector<RowOutput> rowOutputs;
  /// The contraction is one of a gradient with keys: there is no forward pass
  /// here, only its scores.
  bool isGradient = false;

  bool isRaw(TermId id) const {
    return id == raw || llvm::any_of(more, [&](const MoreProducts &part) {
             return part.raw == id;
           });
  }
  /// What rows are along, and all dims, in the op's order.
  llvm::SmallVector<unsigned> rows() const {
    llvm::SmallVector<unsigned> dims(batch);
    dims.push_back(query);
    return dims;
  }
  llvm::SmallVector<unsigned> dims() const {
    llvm::SmallVector<unsigned> dims = rows();
    dims.append({key, depth, feature});
    return dims;
  }
};

/// The nearest of pairs, or a number for each query from all of them.
struct Pairs {
  std::unique_ptr<Algebra> algebra;
  std::unique_ptr<Reader> reader;
  mlir::Operation *op = nullptr;
  spmd::PairCombine combine{};
  llvm::SmallVector<unsigned> batch;
  unsigned query = kNoQuery, key = 0;
  bool hasDepth = true;
  Root queryRoot, keyRoot;
  PolyId score = 0;
  TermId raw = 0;
  /// Of pairs that are no products: the terms of the two elements.
  std::optional<std::pair<TermId, TermId>> elements;
  /// What the results replace: values and perhaps indices, the layout of the
  /// first without places, and whether values are negated scores.
  llvm::SmallVector<mlir::Value, 2> outputs;
  Layout rows;
  /// The tensor of scores. Of a sum that weighs something along keys with them:
  /// what that is, and its dim besides.
  mlir::Value scores;
  Root value;
  unsigned feature = kNoFeature;
  int64_t count = 0;
  bool isNegated = false;
};

/// A gradient of an extra: `value` is `slope` times ds, summed over the dims it
/// lacks.
struct ExtraGradient {
  mlir::Value value;
  Layout layout;
  PolyId slope = 0;
};

/// The gradients that one of Forward::more has.
struct MoreGradients {
  mlir::Value dquery, dkey;
  Layout dqueryLayout, dkeyLayout;
};

/// The gradient of a Forward for one cotangent of its output.
struct Backward {
  /// Contractions that give the gradients; some may be missing.
  mlir::Value dquery, dkey, dvalue;
  Layout dqueryLayout, dkeyLayout, dvalueLayout;
  Root queryRoot, keyRoot, valueRoot, dout;
  std::vector<MoreGradients> more;
  /// The raw score's gradient is this times ds.
  std::optional<PolyId> slope;
  /// Σ_k of p weight dp: the term, to know it in other gradients.
  TermId dp = 0;
  llvm::SmallVector<ExtraGradient> extras;
  /// Every value that the op replaces.
  llvm::SmallVector<mlir::Value> replaced() const {
    llvm::SmallVector<mlir::Value> values{dquery, dkey, dvalue};
    for (const MoreGradients &part : more)
      values.append({part.dquery, part.dkey});
    for (const ExtraGradient &extra : extras)
      values.push_back(extra.value);
    llvm::erase(values, mlir::Value());
    return values;
  }
  /// Without a forward pass: p is Exp[score] times `row`, and ds is slope * p *
  /// (dp - delta).
  Monomial row;
  PolyId delta = 0;
};

/// Matches `dot`, whose operand `probabilitySide` holds probabilities; with
/// `open`, exponentials divided by anything. Where it looks like attention and
/// is none, `nearMiss` says why and where.
std::optional<Forward>
matchForward(stablehlo::DotGeneralOp dot, bool probabilitySide, bool open,
             const Numbering &numbering,
             std::pair<mlir::Operation *, std::string> &nearMiss);

/// True if wherever `poly` has `other` it has `raw` as well, and `other` times
/// `ratio` (found if it is not given) is added.
bool addsUp(const Algebra &algebra, PolyId poly, TermId raw, TermId other,
            std::optional<double> &ratio);

/// Sums and maxima of the scores of `forward` in its block.
std::vector<RowOutput> matchRowOutputs(Forward &forward,
                                       const Numbering &numbering);

/// Finds the band outside which the score has no weight
/// (docs/Rationale/Ring.md).
void findBand(Forward &forward);

/// Finds the gradients of `forward` in its block, one for each cotangent.
std::vector<Backward> matchBackward(Forward &forward,
                                    const Numbering &numbering);

/// Finds the gradient that `forward`, which is one itself, belongs to.
std::optional<Backward> matchOpenBackward(Forward &forward,
                                          const Numbering &numbering);

/// `score` where `condition` holds, else -inf.
PolyId onlyWhere(Algebra &algebra, PolyId condition, PolyId score,
                 mlir::Operation *op);

/// What of `monomial` is the same all along a row, besides conditions.
Monomial rowFactorOf(const Forward &forward, const Monomial &monomial);

/// Matches `op`: the best of each row of scores (top_k, or a sort of which the
/// first are taken), a sum, maximum or minimum over keys, of distances between
/// pairs, or a contraction over keys, whose operand `scoreSide` these are.
std::optional<Pairs> matchPairs(mlir::Operation *op, const Numbering &numbering,
                                bool scoreSide = false);

/// `poly` as something times the difference, or another sum, of two tensors, if
/// it is that: of points that are close to one another, and large, products
/// with each would cancel.
PolyId withDifference(Algebra &algebra, PolyId poly,
                      mlir::MLIRContext *context);

//===----------------------------------------------------------------------===//
// What matches share
//===----------------------------------------------------------------------===//

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}
inline DimSet bit(unsigned dim) { return DimSet(1) << dim; }
/// All dims of a tensor, one after the other.
llvm::SmallVector<unsigned> flatten(const Layout &layout);
/// True if one of the first `limit` ops before `value`, as far as these go
/// element by element, is wanted.
bool isBefore(mlir::Value value, size_t limit,
              llvm::function_ref<bool(mlir::Operation *)> isWanted);
/// The contraction that `raw` is, if it is a tensor of the program.
stablehlo::DotGeneralOp findDot(const Term &raw);
/// The operands of `dot`, whose result has `layout`; the one that has `key`
/// comes last.
std::pair<Root, Root> rootsOf(stablehlo::DotGeneralOp dot, const Layout &layout,
                              unsigned key, Reader &reader);
/// The longest of `dims`, the last of equals; kNoQuery if there is none.
unsigned longestOf(DimSet dims, const Reader &reader);
/// Goes on from `value`, whose layout is `layout`, through ops that only move
/// it.
void followMoves(mlir::Value &value, Layout &layout, Reader &reader);
/// The layouts of tensors that depend on the scores.
struct ScoreLayouts {
  llvm::DenseMap<unsigned, Layout> byNumber;
  /// What reads one of them in the block of the scores' product, in order.
  llvm::SmallVector<mlir::Operation *> readers;

  const Layout *find(unsigned number) const {
    auto it = byNumber.find(number);
    return it == byNumber.end() ? nullptr : &it->second;
  }
};
ScoreLayouts findLayouts(Forward &forward, const Numbering &numbering);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_MATCH_H
