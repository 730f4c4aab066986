//===- OrderAttributes.h - What --reproducible notes on ops ------*- C++
//-*-===//
//
// docs/Rationale/Reproducible.md.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_ORDERATTRIBUTES_H
#define SHARDC_DIALECT_SPMD_IR_ORDERATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace shardc::spmd {

/// On the op that adds in the body of a linalg op: where floats are to be added
/// in the order of their elements, these need not be.
inline constexpr llvm::StringLiteral kAnyOrderAttrName = "spmd.any_order";

/// On ops that sum (reductions, products, ops on all pairs): the dims summed
/// over are whole on every rank, and are summed in one order there.
inline constexpr llvm::StringLiteral kWholeSumAttrName = "spmd.whole_sum";

/// On ops of one rank that stand for a manual region: in that region, its
/// author cuts.
inline constexpr llvm::StringLiteral kOfManualAttrName = "spmd.of_manual";

/// On the op that adds a product in the body of a linalg op: both are rounded
/// once.
inline constexpr llvm::StringLiteral kRoundedOnceAttrName = "spmd.rounded_once";

/// On `stablehlo.fft`: a line that is cut is made whole, not transformed in
/// blocks.
inline constexpr llvm::StringLiteral kWholeLinesAttrName = "spmd.whole_lines";

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_ORDERATTRIBUTES_H
