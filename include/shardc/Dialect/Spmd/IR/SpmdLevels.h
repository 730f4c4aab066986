//===- SpmdLevels.h - The level that a program is at ------------*- C++ -*-===//
//
// Four dialects, one for each level: `spmd`, the global view; `local`, a rank's
// own parts and what ranks do together; `pairs`, every query with every key;
// `kernel`, what runs on buffers. Which of them a program has ops of says how
// far it is: stages end in verifyLevel.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDLEVELS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDLEVELS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"

namespace shardc::spmd {

/// Whether `op` is of one of the four dialects.
bool isOfLevel(mlir::Operation *op);

/// Whether `attribute` is a discardable one of the four dialects.
bool isContract(mlir::NamedAttribute attribute);

/// What a program's text may begin an op's name with, taken away:
/// "stablehlo.dot_general" is "dot_general" to users.
llvm::StringRef withoutDialect(llvm::StringRef opName);

/// Refuses an op of the four dialects in `root` that is not among `legal`,
/// names of dialects and of ops; `when` says after which stage.
llvm::LogicalResult verifyLevel(mlir::Operation *root,
                                llvm::ArrayRef<llvm::StringRef> legal,
                                llvm::StringRef when);

/// The name of a dialect or of an op, given its class.
template <typename T> constexpr llvm::StringLiteral nameOfLevel() {
  if constexpr (requires { T::getOperationName(); })
    return T::getOperationName();
  else
    return T::getDialectNamespace();
}

/// The same of classes:
///   verifyLevel<MeshOp, LocalDialect, PairsDialect>(module, "partition")
template <typename... Legal>
llvm::LogicalResult verifyLevel(mlir::Operation *root, llvm::StringRef when) {
  return verifyLevel(root, {llvm::StringRef(nameOfLevel<Legal>())...}, when);
}

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDLEVELS_H
