//===- Register.h - Everything a tool needs to know -------------*- C++ -*-===//
#ifndef SHARDC_PIPELINES_REGISTER_H
#define SHARDC_PIPELINES_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace shardc {

/// The project's dialects, those of upstream that its stages use, and all
/// external models (sharding rules, bufferisation, bounds, translation).
void registerShardcDialects(mlir::DialectRegistry &registry);

/// The project's passes and named pipelines (`--spmd-import` …
/// `--spmd-lower-cpu`).
void registerShardcPasses();

} // namespace shardc

#endif // SHARDC_PIPELINES_REGISTER_H
