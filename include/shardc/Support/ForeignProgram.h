//===- ForeignProgram.h - Programs from others ------------------*- C++ -*-===//
//
// MLIR's readers are made for files that tools have written: damaged bytecode
// crashes them or keeps them busy for ever, deep nesting ends their stack. So a
// program is first read in a child process under limits of time, memory and
// stack, and this process reads only what the child came through with.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_FOREIGNPROGRAM_H
#define SHARDC_SUPPORT_FOREIGNPROGRAM_H

#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace shardc {

/// Of a dialect that programs come in, and that no stage knows.
class ForeignDialectInterface
    : public mlir::DialectInterface::Base<ForeignDialectInterface> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignDialectInterface)
  explicit ForeignDialectInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// Says the dialect's ops in those of others, before anything is verified.
  /// Failure with an error.
  virtual mlir::LogicalResult replaceOps(mlir::ModuleOp module) const = 0;
};

/// Reads text, bytecode or a portable artifact, of which StableHLO is left.
/// Null, with errors, for what does not parse. Not for what may be damaged: see
/// readForeignProgram.
mlir::OwningOpRef<mlir::ModuleOp>
parseProgram(mlir::MLIRContext &context,
             std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Reads a program in this process, within the same limits but those of time,
/// memory and stack: one that this process, or one that it trusts, has written.
mlir::OwningOpRef<mlir::ModuleOp>
readOwnProgram(mlir::MLIRContext &context,
               std::unique_ptr<llvm::MemoryBuffer> buffer);

/// What may be given to MLIR's parser instead of `buffer`, with its name. Text
/// is prepared by prepareProgram and stays as it is; of bytecode it is what
/// the child wrote anew, so that foreign bytes are never read here. Text that
/// the child cannot parse is returned too: parsing it says why. Failure with
/// a diagnostic on `context` for what is beyond a limit, crashes the reader,
/// takes it more than 4 s of processor time and 1 s a MiB, or is bytecode that
/// does not parse. Where `splitMarker` is not empty, the text is several
/// programs that it separates.
mlir::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
readForeignProgram(mlir::MLIRContext &context,
                   std::unique_ptr<llvm::MemoryBuffer> buffer,
                   llvm::StringRef splitMarker = {});

/// Whether the bytes of a tensor with the static sizes of `type` are a number
/// of 63 bits, whatever its elements.
bool hasCountableBytes(mlir::ShapedType type);

} // namespace shardc

#endif // SHARDC_SUPPORT_FOREIGNPROGRAM_H
