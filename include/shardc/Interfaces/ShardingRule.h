//===- ShardingRule.h - How an op ties its dims together --------*- C++ -*-===//
//
// A rule is plain data: the factors an op iterates over, and for each dim of
// each operand and result the index map that says which elements an iteration
// touches. Propagation, partition, the cost model and explain read the same
// rule. Rules never look at shardings.
//
// Example, convolution of an image (n, h, w, c) with a 3x3 kernel, padding 1:
//
//     factors   n  h  w  o(pass)   kh  kw  c(reduction)
//     input     [n, h + kh - 1, w + kw - 1, c]   fill zero
//     kernel    [kh, kw, c, o]
//     result    [n, h, w, o]
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_INTERFACES_SHARDINGRULE_H
#define SHARDC_INTERFACES_SHARDINGRULE_H

#include "shardc/Dialect/Spmd/IR/SpmdForward.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Layout/IndexMap.h"
#include <optional>

namespace shardc {

enum class FactorKind {
  PassThrough, ///< may be sharded; every result has it, or it is a broadcast
  Reduction,   ///< may be sharded; results are then partial (see `reduction`)
  /// May be sharded: the op's own local form communicates along it. Operands
  /// arrive as the blocks that the factor's cut gives each rank.
  Distributed,
  NeedReplication ///< must be whole on every rank
};

struct Factor {
  int64_t size = 0;
  FactorKind kind = FactorKind::PassThrough;
  /// How partial results are combined, summed if not said; of Reduction factors
  /// only.
  spmd::ReductionKind reduction = spmd::ReductionKind();
  /// True if the local op needs the same size on every rank (feature groups of
  /// a convolution, whose number is an attribute): uneven means whole.
  bool evenOnly = false;
  /// Of Distributed factors: every rank uses every block (a ring, rows
  /// asked for by index). So it may be cut along axes that other factors are
  /// cut along as well, and adds nothing to what each rank computes.
  bool travels = false;
  /// Of Distributed factors: bytes that arrive at all ranks together when the
  /// local form communicates along it; what Decision weighs against a gather.
  double movedBytes = 0;
  /// Of factors that travel, in place of that: bytes of the rows that the whole
  /// op asks for or sends by index. More ranks that compute the same ask for
  /// more; a rank that asks is sent each row once.
  double askedBytes = 0;
  /// Of factors whose cut may end at the op (a transformed dim, the minor part
  /// of a merge): factors that the other side may be cut along instead, the
  /// best first. An axis that would be lost across the op is kept along one of
  /// them.
  llvm::SmallVector<int64_t, 2> carriers = {};
};

/// What is read of an operand outside its domain.
enum class Fill {
  Never,   ///< it is not read there
  Zero,    ///< zero of the element type
  Operand, ///< the scalar operand number `fillOperand`
  Clip ///< nothing: the local operand is cut to the domain, maybe to nothing
};

/// The dims of one operand or result.
struct TensorRule {
  llvm::SmallVector<IndexMap, 4> dims;
  Fill fill = Fill::Never;
  /// What is read outside instead; then the operand arrives padded in all dims,
  /// cut or not.
  Padding padding = Padding::Constant;
  int64_t fillOperand = -1;
};

/// Operands and results in the op's order, non-tensor ones included with no
/// dims. A dim of a result is an identity map or an exact merge (reshape).
struct ShardingRule {
  llvm::SmallVector<Factor, 8> factors;
  llvm::SmallVector<TensorRule, 4> operands;
  llvm::SmallVector<TensorRule, 2> results;

  llvm::SmallVector<int64_t, 8> factorSizes() const;
  /// Appends a factor and returns its number.
  int64_t addFactor(int64_t size, FactorKind kind = FactorKind::PassThrough,
                    spmd::ReductionKind reduction = spmd::ReductionKind());
  /// As text, in the form of the example above on one line, for explain.
  std::string str() const;
};

/// The factor that a dim is cut along when the dim is sharded: the most major
/// term whose extent is above one; nullopt for a dim with no such factor.
std::optional<int64_t> shardingFactorOf(const ShardingRule &rule,
                                        const IndexMap &map);

} // namespace shardc

#endif // SHARDC_INTERFACES_SHARDINGRULE_H
