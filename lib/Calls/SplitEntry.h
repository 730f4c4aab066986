//===- SplitEntry.h - Long straight lines as several functions --*- C++ -*-===//
#ifndef SHARDC_LIB_CALLS_SPLITENTRY_H
#define SHARDC_LIB_CALLS_SPLITENTRY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace shardc {

/// What the names of parts begin with. They return a status, as calls of the
/// runtime do.
constexpr llvm::StringLiteral kPartPrefix = "__shardc_part_";

/// Puts the blocks of a long entry into functions of a few hundred ops each;
/// does nothing to others. In: the LLVM dialect, before statuses are checked.
void splitEntry(mlir::ModuleOp module);

} // namespace shardc

#endif // SHARDC_LIB_CALLS_SPLITENTRY_H
