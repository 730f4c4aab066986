//===- OrderAttributes.h - What --reproducible notes on ops ------*- C++ -*-===//
//
// docs/Rationale/Reproducible.md.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_ORDERATTRIBUTES_H
#define SHARDC_DIALECT_SPMD_IR_ORDERATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace shardc::spmd {

/// On the op that adds in the body of a linalg op: where floats are to be added in
/// the order of their elements, these need not be.
inline constexpr llvm::StringLiteral kAnyOrderAttrName = "spmd.any_order";

/// On `stablehlo.fft`: a line that is cut is made whole, not transformed in blocks.
inline constexpr llvm::StringLiteral kWholeLinesAttrName = "spmd.whole_lines";

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_ORDERATTRIBUTES_H
