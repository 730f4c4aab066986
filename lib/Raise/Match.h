//===- Match.h - Attention in expressions -----------------------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_MATCH_H
#define SHARDC_LIB_RAISE_MATCH_H

#include "Reader.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <memory>

namespace shardc::raise {

/// Iteration dims that no tensor has.
inline constexpr unsigned kFirstFeature = 40, kNoFeature = 44, kNoQuery = 45, kNoDepth = 46;
/// The depth dim: the contracted dim of the scores.
inline constexpr unsigned kDepth = kFirstBoundDim;

/// Softmax attention, as one contraction of probabilities with values ends it.
struct Forward {
  std::unique_ptr<Algebra> algebra;
  std::unique_ptr<Reader> reader;
  stablehlo::DotGeneralOp dot;
  /// What the op's result replaces, and how it lies.
  mlir::Value output;
  Layout outputLayout;
  /// Batch dims in the order of the output, then the others.
  llvm::SmallVector<unsigned> batch;
  unsigned query = kNoQuery, key = 0, depth = kNoDepth, feature = kNoFeature;
  Root queryRoot, keyRoot, valueRoot;
  /// The score and what weighs values (1: the probability itself).
  PolyId score = 0, weight = 0;
  /// Exp[score], its sum over keys, the raw score.
  TermId exp = 0, sum = 0, raw = 0;
  std::optional<int64_t> bandLower, bandUpper;
  /// A large number masks, and nothing proves that it leaves each row a key: lse may
  /// not say what the backward needs (docs/Rationale/Ring.md section 3).
  bool mayMaskRows = false;
};

/// The nearest of pairs, or a number for each query from all of them.
struct Pairs {
  std::unique_ptr<Algebra> algebra;
  std::unique_ptr<Reader> reader;
  mlir::Operation *op = nullptr;
  spmd::PairCombine combine = spmd::PairCombine::TopK;
  llvm::SmallVector<unsigned> batch;
  unsigned query = kNoQuery, key = 0;
  bool hasDepth = true;
  Root queryRoot, keyRoot;
  PolyId score = 0;
  TermId raw = 0;
  /// Of pairs that are no products: the terms of the two elements.
  std::optional<std::pair<TermId, TermId>> elements;
  /// What the results replace: values and perhaps indices, how the first lies without
  /// places, and whether values are negated scores.
  llvm::SmallVector<mlir::Value, 2> outputs;
  Layout rows;
  int64_t count = 0;
  bool isNegated = false;
};

/// A gradient of an extra: `value` is `slope` times ds, summed over the dims it lacks.
struct ExtraGradient {
  mlir::Value value;
  Layout layout;
  PolyId slope = 0;
};

/// The gradient of a Forward for one cotangent of its output.
struct Backward {
  /// Contractions that give the gradients; some may be missing.
  mlir::Value dquery, dkey, dvalue;
  Layout dqueryLayout, dkeyLayout, dvalueLayout;
  Root queryRoot, keyRoot, valueRoot, dout;
  /// The raw score's gradient is this times ds.
  std::optional<PolyId> slope;
  /// Σ_k of p weight dp: the term, to know it in other gradients.
  TermId dp = 0;
  llvm::SmallVector<ExtraGradient> extras;
};

/// Matches `dot`, whose operand `probabilitySide` holds probabilities. Where it
/// looks like attention and is none, `nearMiss` says why and where.
std::optional<Forward> matchForward(stablehlo::DotGeneralOp dot, bool probabilitySide, const Numbering &numbering,
                                    std::pair<mlir::Operation *, std::string> &nearMiss);

/// Finds the gradients of `forward` in its block, one for each cotangent.
std::vector<Backward> matchBackward(Forward &forward, const Numbering &numbering);

/// Matches `op`: the best of each row of scores (top_k, or a sort of which the first are
/// taken), or a sum, maximum or minimum over keys, of distances between pairs.
std::optional<Pairs> matchPairs(mlir::Operation *op, const Numbering &numbering);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_MATCH_H
