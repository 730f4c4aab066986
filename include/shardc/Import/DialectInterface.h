//===- DialectInterface.h - Dialects that tools add to import ---*- C++ -*-===//
#ifndef SHARDC_IMPORT_DIALECTINTERFACE_H
#define SHARDC_IMPORT_DIALECTINTERFACE_H

#include "mlir/IR/DialectInterface.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace shardc {

/// Where in import passes are added.
enum class ImportStep {
  BeforeCalls, ///< no call has been inlined
  AfterCalls,  ///< all calls are inlined
  Decomposed   ///< ops have sharding rules; what has none is refused next
};

/// Of a dialect whose ops import does not know: what takes them apart.
class ImportDialectInterface
    : public mlir::DialectInterface::Base<ImportDialectInterface> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ImportDialectInterface)
  explicit ImportDialectInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// Adds passes on modules. The dialects that these depend on are loaded
  /// wherever this one is.
  virtual void addPasses(ImportStep step, mlir::OpPassManager &pm) const {}
  /// Calls `keep` with the functions that `op` names otherwise than by a call:
  /// they are not inlined.
  virtual void
  forEachNamedFunction(mlir::Operation *op,
                       llvm::function_ref<void(mlir::StringAttr)> keep) const {}
};

} // namespace shardc

#endif // SHARDC_IMPORT_DIALECTINTERFACE_H
