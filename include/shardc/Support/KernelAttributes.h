//===- KernelAttributes.h - Names that stages give to kernels ---*- C++ -*-===//
#ifndef SHARDC_SUPPORT_KERNELATTRIBUTES_H
#define SHARDC_SUPPORT_KERNELATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace shardc {

/// The symbol of the gpu.module that holds a program's kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "shardc_kernels";
/// What spmd-mark-kernels calls before a kernel, with its number: (i64) -> ();
inline constexpr llvm::StringLiteral kMarkFunction = "shardc_mark";
/// … and behind it, with its bytes and operations: (i64, i64) -> ().
inline constexpr llvm::StringLiteral kEndMarkFunction = "shardc_mark_end";
/// How names begin that spmd-name-locations writes into locations.
inline constexpr llvm::StringLiteral kNamePrefix = "op:";

} // namespace shardc

#endif // SHARDC_SUPPORT_KERNELATTRIBUTES_H
