//===- KernelAttributes.h - What kernels say to who lowers them -*- C++ -*-===//
#ifndef SHARDC_SUPPORT_KERNELATTRIBUTES_H
#define SHARDC_SUPPORT_KERNELATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace shardc {

/// On an scf.for from 0 in steps of 1 whose iterations may run at the same time:
/// how many there are (i64). Without anybody who looks at it they run in order.
inline constexpr llvm::StringLiteral kPartsAttrName = "spmd.parts";
/// What spmd-mark-kernels calls: (i64) -> ().
inline constexpr llvm::StringLiteral kMarkFunction = "shardc_mark";
/// The module's: a [name, source line] for each number that marks use.
inline constexpr llvm::StringLiteral kKernelsAttrName = "spmd.kernels";
/// How names begin that spmd-name-locations writes into locations.
inline constexpr llvm::StringLiteral kNamePrefix = "op:";

} // namespace shardc

#endif // SHARDC_SUPPORT_KERNELATTRIBUTES_H
