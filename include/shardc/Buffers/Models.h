//===- Models.h - How ops become ops on buffers -----------------*- C++ -*-===//
//
// External models of MLIR's interfaces of bufferization and of bounds.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_BUFFERS_MODELS_H
#define SHARDC_BUFFERS_MODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace shardc {

/// Dialects that work on buffers, with the models of all their ops: those
/// below, and MLIR's own.
void registerBufferDialects(mlir::DialectRegistry &registry);

/// Lets bufferization take `pairs.pair_step` and `kernel.lines`.
void registerPairStepModel(mlir::DialectRegistry &registry);

/// Lets bufferization take `kernel.library_call`.
void registerLibraryCallModel(mlir::DialectRegistry &registry);

/// How sites are bufferised, and what bounds `local.lookup` has: without these
/// no buffer can be planned that differs by rank.
void registerSiteModels(mlir::DialectRegistry &registry);

} // namespace shardc

#endif // SHARDC_BUFFERS_MODELS_H
