//===- ProgramText.h - Make a program ready for MLIR's parser ---*- C++ -*-===//
#ifndef SHARDC_SUPPORT_PROGRAMTEXT_H
#define SHARDC_SUPPORT_PROGRAMTEXT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace shardc {

/// A program's text (or MLIR bytecode, which stays as it is) ready to be
/// parsed: within the limits of TextLimits.h, blobs of i1 packed. Name, length,
/// lines and columns are those of `buffer`. The error is one line,
/// `file:line:column: error: what is wrong`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
prepareProgram(std::unique_ptr<llvm::MemoryBuffer> buffer);

} // namespace shardc

#endif // SHARDC_SUPPORT_PROGRAMTEXT_H
