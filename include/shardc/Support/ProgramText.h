//===- ProgramText.h - Make a program ready for MLIR's parser ---*- C++ -*-===//
#ifndef SHARDC_SUPPORT_PROGRAMTEXT_H
#define SHARDC_SUPPORT_PROGRAMTEXT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>

namespace shardc {

/// With what MLIR's bytecode begins.
inline constexpr llvm::StringLiteral kBytecodeMagic = "ML\xEF\x52";

/// The version of StableHLO ("1.13.7") whose portable artifact `program` says
/// that it is; none for text and other bytecode.
std::optional<llvm::StringRef> portableVersion(llvm::StringRef program);

/// Versions whose portable artifacts are read. Of a later one most are: ops
/// that did not change have kept their form.
inline constexpr llvm::StringLiteral kOldestPortable = "1.0.0";
inline constexpr llvm::StringLiteral kNewestPortable = "1.17.0";

/// The bytecode in what `jax.export` serialises, a flatbuffer; none where
/// `bytes` are something else.
std::optional<llvm::StringRef> exportedModule(llvm::StringRef bytes);

/// A program's text (or MLIR bytecode, which stays as it is, by itself or as
/// jax.export packs it) ready to be parsed: within the limits of TextLimits.h,
/// blobs of i1 packed. Name, length, lines and columns are those of `buffer`.
/// The error is one line, `file:line:column: error: what is wrong`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
prepareProgram(std::unique_ptr<llvm::MemoryBuffer> buffer);

} // namespace shardc

#endif // SHARDC_SUPPORT_PROGRAMTEXT_H
