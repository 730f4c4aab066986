//===- RingExpressions.h - Expressions of blocks and of wholes --*- C++ -*-===//
//
// What the output of a ring and its gradients are both matched with.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RAISE_RINGEXPRESSIONS_H
#define SHARDC_LIB_RAISE_RINGEXPRESSIONS_H

#include "MatchRings.h"

namespace shardc::raise {

/// The value inside of the region that `result` is.
mlir::Value innerOf(mlir::OpResult result);
/// `layout` with dim `to` in the place of `from`.
Layout renamed(Layout layout, unsigned from, unsigned to);
/// Takes note of the axes that cut the dims of `operand`; false where they cut
/// the same dim otherwise.
bool takeCuts(Ring &ring, const RingOperand &operand);
/// `poly`, of whole tensors, in the block that `block` is.
PolyId inBlock(Ring &ring, PolyId poly, const RingBlock &block);
/// `poly` with a monomial for each block of what it sums over several.
Poly blockByBlock(Algebra &algebra, Poly poly);
/// Calls `isIt` for what `inBlock` of the ring's blocks may be on whole
/// tensors, until it is: that of a block through which the mask's edge goes,
/// or, if it has two edges, those of all together.
bool findWhole(Ring &ring,
               llvm::function_ref<std::optional<PolyId>(size_t)> inBlock,
               llvm::function_ref<bool(PolyId)> isIt);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_RINGEXPRESSIONS_H
