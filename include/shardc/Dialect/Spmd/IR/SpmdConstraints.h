//===- SpmdConstraints.h - Ties between shardings ---------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDCONSTRAINTS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDCONSTRAINTS_H

#include "llvm/ADT/StringRef.h"

namespace shardc::spmd {

/// Of an `spmd.constrain`, a number: results with one number have one sharding.
inline constexpr llvm::StringLiteral kGroupAttrName = "spmd.group";
/// Of an `spmd.constrain`, where shardings may spread through it: "forward",
/// from operand to result, "backward" or "none".
inline constexpr llvm::StringLiteral kDirectionAttrName = "spmd.direction";

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDCONSTRAINTS_H
