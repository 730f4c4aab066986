//===- KernelAttributes.h - What kernels say to who lowers them -*- C++ -*-===//
#ifndef SHARDC_SUPPORT_KERNELATTRIBUTES_H
#define SHARDC_SUPPORT_KERNELATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace shardc {

/// On an scf.for from 0 in steps of 1 whose iterations may run at the same
/// time: how many there are (i64). Without anybody who looks at it they run in
/// order.
inline constexpr llvm::StringLiteral kPartsAttrName = "spmd.parts";
/// What spmd-mark-kernels calls: (i64) -> ().
inline constexpr llvm::StringLiteral kMarkFunction = "shardc_mark";
/// The module's: a [name, source line] for each number that marks use.
inline constexpr llvm::StringLiteral kKernelsAttrName = "spmd.kernels";
/// On an arith.divf: it is 1 / (1 + exp(-x)), and may be computed as one
/// function.
inline constexpr llvm::StringLiteral kLogisticAttrName = "spmd.logistic";
/// On arithmetic of floats: it rounds by itself, and is not fused with its
/// neighbours.
inline constexpr llvm::StringLiteral kRoundedAttrName = "spmd.rounded";
/// On functions of f64: as many digits are asked for as f32 has, and some.
inline constexpr llvm::StringLiteral kBriefAttrName = "spmd.brief";
/// Of the buffer of a result: the number of the argument that it may be written
/// over. The module's: that of each result, or -1.
inline constexpr llvm::StringLiteral kInPlaceAttrName = "spmd.in_place";
/// How names begin that spmd-name-locations writes into locations.
inline constexpr llvm::StringLiteral kNamePrefix = "op:";

} // namespace shardc

#endif // SHARDC_SUPPORT_KERNELATTRIBUTES_H
