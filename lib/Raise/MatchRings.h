//===- MatchRings.h - Attention round a ring in expressions -----*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_MATCHRINGS_H
#define SHARDC_LIB_RAISE_MATCHRINGS_H

#include "BlockReader.h"
#include "Match.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

namespace shardc::raise {

/// Iteration dims of rings besides those of the output: keys, and depth where
/// it is no sum.
inline constexpr unsigned kRingKey = 40, kRingDepth = 41;

/// A tensor outside of regions whose blocks a ring uses.
struct RingOperand {
  mlir::Value value;
  spmd::ShardingAttr sharding;
  Layout layout;
};

/// One block of keys that all ranks of a lane use.
struct RingBlock {
  /// The exponentials of its scores, the product in them, these exponentials
  /// where they count, its keys along depth, its values.
  TermId exp = 0, raw = 0;
  PolyId weight = 0, key = 0, value = 0, score = 0;
  /// What it is divided by.
  TermId total = 0;
  /// Which of Ring::lanes uses it, and whose block each rank of that uses.
  size_t lane = 0;
  RankTable source;
};

/// Softmax attention of whole tensors that a manual region computes block by
/// block.
struct Ring {
  std::unique_ptr<Algebra> algebra;
  std::unique_ptr<BlockReader> reader;
  RingOperand query, key, value;
  unsigned queryDim = kNoQuery, featureDim = kNoFeature;
  Layout outputLayout;
  std::vector<RingBlock> blocks;
  /// The ranks that are read together: all, or one after the other where their
  /// branches differ.
  std::vector<RankTable> lanes;
  /// The axes of the ring, and those that cut each dim.
  llvm::SmallVector<mlir::StringAttr> axes;
  std::map<unsigned, llvm::SmallVector<mlir::StringAttr>> cuts;
  /// The score of whole tensors, and the product in it.
  PolyId score = 0;
  TermId raw = 0;
};

enum class GradientKind { Query, Key, Value };
/// A gradient of a ring for one cotangent: slope times ds, or p, contracted.
struct RingGradient {
  GradientKind kind = GradientKind::Query;
  RingOperand cotangent;
  PolyId slope = 0;
};

/// Why something is no ring, and where, and how many of its blocks were found
/// first.
struct RingMiss {
  mlir::Operation *op = nullptr;
  std::string why;
  size_t steps = 0;
  /// Reading ended before all was read.
  bool isTooLong = false;
};

/// Matches `result`, a result of a manual region, as the output of a ring.
std::optional<Ring> matchRing(mlir::OpResult result, const Numbering &numbering,
                              spmd::MeshAttr mesh, RingMiss &miss);

/// Matches `result`, a result of a manual region, as a gradient of `ring`.
/// `known` are those found already.
std::optional<RingGradient>
matchRingGradient(mlir::OpResult result, Ring &ring, const Numbering &numbering,
                  llvm::ArrayRef<RingGradient> known);

/// Why `result`, which is neither the output of `ring` nor a gradient, is none.
std::string whyNoGradient(const Ring &ring, mlir::OpResult result);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_MATCHRINGS_H
