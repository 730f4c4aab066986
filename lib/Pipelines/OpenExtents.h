//===- OpenExtents.h - The same program with other placeholders -*- C++ -*-===//
#ifndef SHARDC_LIB_PIPELINES_OPENEXTENTS_H
#define SHARDC_LIB_PIPELINES_OPENEXTENTS_H

#include "mlir/IR/BuiltinOps.h"
#include "shardc/Import/PlaceholderSet.h"

namespace shardc {

/// Refuses `module` where a number of it follows from open extents, and not as
/// it says. `twinOf` compiles the same program with other placeholders, as far.
llvm::LogicalResult checkOpenExtents(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(PlaceholderSet)>
        twinOf);

} // namespace shardc

#endif // SHARDC_LIB_PIPELINES_OPENEXTENTS_H
