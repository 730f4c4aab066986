//===- Dialects.h - All that tools on IR read -------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_COMMON_DIALECTS_H
#define SHARDC_TOOLS_COMMON_DIALECTS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace shardc {

/// The project's dialects (registerShardcDialects), those of conformance files,
/// and those of upstream that IR of any stage holds.
void registerAllDialects(mlir::DialectRegistry &registry);

/// What tools read beside the programs that libraries do: conformance files.
void registerConformanceDialects(mlir::DialectRegistry &registry);

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_DIALECTS_H
